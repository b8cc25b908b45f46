/** Sizes and counts that bound what sessions may hold. */
export interface CodeModeLimits {
  /** Open cells of all sessions together: running ones and those whose result nobody has claimed. Default 512. */
  readonly maxCells: number;
  /** Subscriptions of one session at a time. Default 128. */
  readonly maxSubscriptions: number;
  /** Tool calls that wait in one subscription before further calls are held back. Default 128. */
  readonly subscriptionBacklog: number;
  /** Unanswered tool calls of a session that names no number itself. Default 1024. */
  readonly defaultPendingCalls: number;
  /** The most unanswered tool calls a session may ask for; larger numbers are lowered to it. Default 4096. */
  readonly maxPendingCalls: number;
  /** Execution, wait and invocation ids that a session remembers, of each kind. Default 4096. */
  readonly rememberedIds: number;
  /** Bytes of one encoded message, either way. Default 64 MiB. */
  readonly maxMessageBytes: number;
  /** Bytes of session events the client has not read before its session is ended. Default 128 MiB. */
  readonly maxLeaseBacklogBytes: number;
  /** Bytes of tool calls that no subscriber has read yet, per session; calls past it are rejected. Default 128 MiB. */
  readonly maxToolCallBacklogBytes: number;
  /** Calls of one session that tools of the server answer at a time; further ones wait. Default 8. */
  readonly maxRunningServerCalls: number;
  /** Calls of one session that may wait for the tools of the server; more are rejected. Default 1024. */
  readonly maxWaitingServerCalls: number;
  /**
   * Time in which the calls of a closed subscription may still be completed. 0, the default, closes the session at
   * once when a subscription goes away with calls unanswered.
   */
  readonly resubscribeGraceMs: number;
}

const MEBIBYTE = 1024 * 1024;

/** The limits of the contract's original host. */
export const defaultCodeModeLimits: CodeModeLimits = {
  maxCells: 512,
  maxSubscriptions: 128,
  subscriptionBacklog: 128,
  defaultPendingCalls: 1024,
  maxPendingCalls: 4096,
  rememberedIds: 4096,
  maxMessageBytes: 64 * MEBIBYTE,
  maxLeaseBacklogBytes: 128 * MEBIBYTE,
  maxToolCallBacklogBytes: 128 * MEBIBYTE,
  maxRunningServerCalls: 8,
  maxWaitingServerCalls: 1024,
  resubscribeGraceMs: 0,
};
