import type { SubagentRunner } from "../subagents/subagent-runner.ts";

/** Port that reaches the callback services of clients. The runtime itself knows no transport. */
export interface CallbackDialer {
  /** A link to one service. Nothing is resolved or connected before the first use. */
  open(target: CallbackTarget): CallbackLink;
}

/** Where a session's client listens. */
export interface CallbackTarget {
  /** `host:port` or an `http:` or `https:` URL, checked for its form. */
  readonly address: string;
  /** Bearer secret of the service. Never logged. */
  readonly secret: string | undefined;
  readonly sessionId: string;
}

/** A connection to a callback service that comes back when it was lost. Disposing it ends what runs on it. */
export interface CallbackLink extends SubagentRunner, AsyncDisposable {
  /**
   * Connects now, unless connected. One attempt.
   *
   * @throws {@link TriviumError} `permissionDenied` when this server does not call such an address, or not with a secret;
   * `unavailable` when nobody answers there; the reason of `signal`.
   */
  connect(signal: AbortSignal): Promise<void>;
  /**
   * Waits until the service is connected, with longer and longer pauses between attempts.
   *
   * @throws {@link TriviumError} `permissionDenied`, which no attempt will change; the reason of `signal`.
   */
  ready(signal: AbortSignal): Promise<void>;
  /**
   * Delivers one notification. Resolves when the service has acknowledged it.
   *
   * @throws {@link TriviumError} for every other end; the reason of `signal`.
   */
  notify(notification: SentNotification, signal: AbortSignal): Promise<void>;
}

/** One notification on its way. Contract: ToolNotificationMsg */
export interface SentNotification {
  /** From 1, growing by 1 with every notification of the session that is sent. */
  readonly sequence: number;
  readonly notificationJson: string;
}
