import type { Clock, IdSource } from "@trivium/core";
import type { Transcript, TranscriptEntry } from "../store/transcript.ts";
import type { Message, ToolUseBlock } from "./message.ts";

/** What a conversation is made of. */
export interface ConversationDeps {
  /** What the transcript holds already. */
  readonly entries: readonly TranscriptEntry[];
  readonly transcript: Transcript;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Where an appended message stands among operations and events. */
export interface AppendOptions {
  readonly operationId: string;
  readonly eventSeq: number;
}

/**
 * The messages of one loop, in memory and in its transcript.
 *
 * Invariant: between two turns each `tool_use` has exactly one `tool_result`, in the next user message.
 */
export class Conversation {
  readonly #messages: Message[];
  readonly #callIds = new Set<string>();
  readonly #deps: ConversationDeps;
  #lastEventSeq: number;

  constructor(deps: ConversationDeps) {
    this.#deps = deps;
    this.#messages = deps.entries.map(({ message }) => message);
    this.#lastEventSeq = deps.entries.at(-1)?.eventSeq ?? 0;
    for (const message of this.#messages) this.#noteCalls(message);
  }

  /** Last event that was published before the newest message was written; 0 before the first. */
  get lastEventSeq(): number {
    return this.#lastEventSeq;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Calls of the newest message; they have no result yet. Empty unless a turn runs or could not be completed. */
  get openCalls(): ToolUseBlock[] {
    const last = this.#messages.at(-1);
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
  async append(message: Message, { operationId, eventSeq }: AppendOptions): Promise<void> {
    const { transcript, clock, ids } = this.#deps;
    const timestamp = new Date(clock.now()).toISOString();
    await transcript.append({ uuid: ids.uuid(), timestamp, message, operationId, eventSeq });
    this.#messages.push(message);
    this.#lastEventSeq = eventSeq;
    this.#noteCalls(message);
  }

  sync(): Promise<void> {
    return this.#deps.transcript.sync();
  }

  close(): Promise<void> {
    return this.#deps.transcript.close();
  }

  #noteCalls({ content }: Message): void {
    for (const block of content) if (block.type === "tool_use") this.#callIds.add(block.id);
  }
}
