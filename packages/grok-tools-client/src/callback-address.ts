/** Where the server finds the client's callback service; a served one (`serveCallbacks`) has both. */
export interface CallbackAddress {
  /** `HOST:PORT`, or an `http:` or `https:` URL. The server calls its own machine, and hosts its settings allow. */
  readonly address: string;
  /** Bearer secret the server has to send. */
  readonly secret?: string | undefined;
}

/** Whether the server has reached the callback service. */
export interface CallbackState {
  readonly isConnected: boolean;
  /** What the server uses it for: `notifications`, `subagents`. */
  readonly activeSurfaces: readonly string[];
  /** Why it was not reached. */
  readonly message: string | undefined;
}
