import type { Clock, IdSource } from "@trivium/core";
import type { Transcript, TranscriptEntry, TranscriptRecord } from "../store/transcript.ts";
import type { TranscriptMark } from "../store/transcript-mark.ts";
import type { Message, ToolUseBlock } from "./message.ts";
import { Projection } from "./projection.ts";

/** What a conversation is made of. */
export interface ConversationDeps {
  /** What the transcript holds already. */
  readonly records: readonly TranscriptRecord[];
  readonly transcript: Transcript;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Where an appended message stands among operations and events. */
export interface AppendOptions {
  readonly operationId: string;
  readonly eventSeq: number;
  /** UUID of the message. Default: a new one. */
  readonly uuid?: string;
  /** UUID of the notification it answers. */
  readonly replyTo?: string;
}

/**
 * The messages of one loop, in memory and in its transcript.
 *
 * Invariant: between two turns each `tool_use` has exactly one `tool_result`, in the next user message.
 */
export class Conversation {
  readonly #entries: TranscriptEntry[] = [];
  readonly #projection = new Projection();
  readonly #callIds = new Set<string>();
  /** Messages by their uuid: those with an origin, which may be looked for. */
  readonly #notifications = new Map<string, Message>();
  /** The newest answer to each notification. */
  readonly #answers = new Map<string, string>();
  readonly #deps: ConversationDeps;

  constructor(deps: ConversationDeps) {
    this.#deps = deps;
    for (const record of deps.records) {
      if (record.kind === "message") this.#take(record.entry);
      else this.#projection.apply(record.mark);
    }
  }

  /** Last event that was published before the newest message was written; 0 before the first. */
  get lastEventSeq(): number {
    return this.#entries.at(-1)?.eventSeq ?? 0;
  }

  /** What the model is sent: the history as rollbacks have left it. */
  get messages(): readonly Message[] {
    return this.#projection.messages;
  }

  get projection(): Projection {
    return this.#projection;
  }

  /** The whole transcript, also what the model is not sent any more. */
  get entries(): readonly TranscriptEntry[] {
    return this.#entries;
  }

  /** Calls of the newest message; they have no result yet. Empty unless a turn runs or could not be completed. */
  get openCalls(): ToolUseBlock[] {
    const last = this.messages.at(-1);
    if (last?.role !== "assistant") return [];
    return last.content.filter((block) => block.type === "tool_use");
  }

  /** True when a call of this conversation has the id already. */
  hasCall(toolUseId: string): boolean {
    return this.#callIds.has(toolUseId);
  }

  /** Reserves an id before its message is appended. */
  noteCall(toolUseId: string): void {
    this.#callIds.add(toolUseId);
  }

  /** Adds a message; it survives the end of the process when this resolves. */
  async append(message: Message, options: AppendOptions): Promise<void> {
    const { transcript, clock, ids } = this.#deps;
    const timestamp = new Date(clock.now()).toISOString();
    const { operationId, eventSeq, uuid = ids.uuid(), replyTo } = options;
    const entry = { uuid, timestamp, message, operationId, eventSeq, replyTo };
    await transcript.append(entry);
    this.#take(entry);
  }

  /** Adds a mark; it survives the end of the process when this resolves. */
  async appendMark(mark: TranscriptMark): Promise<void> {
    await this.#deps.transcript.appendMark(mark);
    this.#projection.apply(mark);
  }

  /** A notification of the history. */
  notification(uuid: string): Message | undefined {
    return this.#notifications.get(uuid);
  }

  /** UUID of the newest message that answers a notification. */
  answerTo(uuid: string): string | undefined {
    return this.#answers.get(uuid);
  }

  sync(): Promise<void> {
    return this.#deps.transcript.sync();
  }

  close(): Promise<void> {
    return this.#deps.transcript.close();
  }

  #take(entry: TranscriptEntry): void {
    const { uuid, message, replyTo } = entry;
    this.#entries.push(entry);
    this.#projection.add(entry);
    if (message.origin === "task-notification") this.#notifications.set(uuid, message);
    if (replyTo !== undefined) this.#answers.set(replyTo, uuid);
    for (const block of message.content) if (block.type === "tool_use") this.#callIds.add(block.id);
  }
}
