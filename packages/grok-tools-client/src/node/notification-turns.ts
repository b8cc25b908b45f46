import { createHash } from "node:crypto";
import type { ToolNotificationMsg } from "@trivium/proto/grok-tools";

/** Sessions whose last notification is remembered. */
const MAX_SESSIONS = 1_000;

type Turn = { readonly key: string; readonly handled: Promise<void> };

/**
 * Hands on the notifications of each session one after the other, each once.
 *
 * A server that did not get an acknowledgement in time, or at all, sends the notification again: it then waits for the
 * handler that is at it, or gets its acknowledgement at once. One that the handler could not take is handed on again.
 */
export class NotificationTurns {
  readonly #handle: (message: ToolNotificationMsg) => void | Promise<void>;
  readonly #last = new Map<string, Turn>();

  constructor(handle: (message: ToolNotificationMsg) => void | Promise<void>) {
    this.#handle = handle;
  }

  /** Settles when the notification was handled. Rejects with what the handler throws. */
  take(message: ToolNotificationMsg): Promise<void> {
    const { sessionId } = message;
    const last = this.#last.get(sessionId);
    const key = keyOf(message);
    if (last?.key === key) return last.handled;
    // Whoever sent the one before hears of its failure.
    const before = last?.handled.catch(() => {});
    const handled = (async () => {
      await before;
      await this.#handle(message);
    })();
    const turn = { key, handled };
    this.#last.delete(sessionId);
    this.#last.set(sessionId, turn);
    handled.catch(() => {
      if (this.#last.get(sessionId) === turn) this.#last.delete(sessionId);
    });
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= MAX_SESSIONS) break;
      this.#last.delete(oldest);
    }
    return handled;
  }
}

/** With the content: a session that is opened anew counts from 1 again. */
function keyOf({ sequence, notificationJson }: ToolNotificationMsg): string {
  return `${sequence} ${createHash("sha256").update(notificationJson).digest("base64")}`;
}
