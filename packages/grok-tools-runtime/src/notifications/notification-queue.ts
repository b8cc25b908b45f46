import type { ToolNotification } from "./tool-notification.ts";

/** Notifications that wait at most. */
const MAX_COUNT = 1024;
/** Written files and outputs can be large: what waits is bounded in bytes too. */
const MAX_BYTES = 32 * 1024 * 1024;

/** What a host must not miss as long as there is room. */
const critical: ReadonlySet<ToolNotification["type"]> = new Set<ToolNotification["type"]>([
  "BashExecutionComplete",
  "BashExecutionTimeout",
  "BashExecutionFailed",
  "TaskCompleted",
  "SubagentCompleted",
  "PlanModeEntered",
  "PlanModeExited",
  "UserQuestionAsked",
  "LspServerCrashed",
  "LspServerFailed",
  "ScheduledTaskFired",
  "ScheduledTaskRemoved",
]);

/** One notification that waits. */
export interface QueuedNotification {
  readonly type: ToolNotification["type"];
  readonly json: string;
  readonly isCritical: boolean;
}

/**
 * Notifications in their order, bounded. When there is no room a lossy one is not taken, and a critical one takes the
 * place of the oldest lossy ones, or of the oldest of all.
 */
export class NotificationQueue {
  #items: QueuedNotification[] = [];
  #bytes = 0;

  get size(): number {
    return this.#items.length;
  }

  /** Adds one at the end. Returns how many were lost by it, itself included. */
  add(notification: ToolNotification): number {
    const json = JSON.stringify(notification);
    const item = { type: notification.type, json, isCritical: critical.has(notification.type) };
    if (json.length > MAX_BYTES) return 1;
    let lostCount = 0;
    while (!this.#hasRoomFor(item)) {
      if (!item.isCritical) return lostCount + 1;
      this.#evict();
      lostCount += 1;
    }
    this.#items.push(item);
    this.#bytes += item.json.length;
    return lostCount;
  }

  /** Takes the first one. */
  take(): QueuedNotification | undefined {
    const item = this.#items.shift();
    this.#bytes -= item?.json.length ?? 0;
    return item;
  }

  /** Keeps the critical ones only. */
  dropLossy(): void {
    this.#items = this.#items.filter(({ isCritical }) => isCritical);
    this.#bytes = this.#items.reduce((bytes, { json }) => bytes + json.length, 0);
  }

  clear(): void {
    this.#items = [];
    this.#bytes = 0;
  }

  #hasRoomFor({ json }: QueuedNotification): boolean {
    return this.#items.length < MAX_COUNT && this.#bytes + json.length <= MAX_BYTES;
  }

  #evict(): void {
    const lossy = this.#items.findIndex(({ isCritical }) => !isCritical);
    const [evicted] = this.#items.splice(Math.max(0, lossy), 1);
    this.#bytes -= evicted?.json.length ?? 0;
  }
}
