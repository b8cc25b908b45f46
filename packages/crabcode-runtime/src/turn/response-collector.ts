import type { IdSource } from "@trivium/core";
import type { Conversation } from "../conversation/conversation.ts";
import type { MessageBlock, ToolInput } from "../conversation/message.ts";
import type { ModelChunk, ModelFailure, ModelUsage } from "../ports/model-port.ts";
import { WellFormedChunks, wellFormedInput } from "../text/well-formed.ts";
import type { LoopEvents } from "./loop-events.ts";

const MAX_CALL_ID_CHARS = 128;
/** As JSON: room for a program of 1 MiB whatever has to be escaped in it. */
const MAX_INPUT_CHARS = 4 * 1024 * 1024;
const ID_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

/** A call as the model wrote it. */
export interface ModelCall {
  readonly toolUseId: string;
  readonly name: string;
  /** Empty when the arguments could not be read. */
  readonly input: ToolInput;
  /** Why they could not. */
  readonly problem: string | undefined;
}

/** What collecting needs. */
export interface ResponseCollectorDeps {
  readonly events: LoopEvents;
  readonly conversation: Conversation;
  readonly ids: IdSource;
}

type ToolEnd = Extract<ModelChunk, { type: "tool-end" }>;

/** Turns the chunks of one response into events as they come, and into the blocks of its message. */
export class ResponseCollector {
  readonly blocks: MessageBlock[] = [];
  readonly calls: ModelCall[] = [];
  usage: ModelUsage | undefined;
  finishReason: string | undefined;
  failure: ModelFailure | undefined;
  /** True once a client saw anything of the response. */
  hasOutput = false;
  /** UTF-16 units of text that clients saw. */
  textChars = 0;
  readonly #deps: ResponseCollectorDeps;
  readonly #text = new WellFormedChunks();
  readonly #thinking = new WellFormedChunks();
  readonly #announced: string[] = [];
  #isThinkingOpen = false;

  constructor(deps: ResponseCollectorDeps) {
    this.#deps = deps;
  }

  get hasText(): boolean {
    return this.blocks.some((block) => block.type === "text");
  }

  take(chunk: ModelChunk): void {
    if (chunk.type !== "text") this.#addText(this.#text.end());
    if (chunk.type !== "thinking") this.#addThinking(this.#thinking.end());
    switch (chunk.type) {
      case "text":
        this.#isThinkingOpen = false;
        this.#addText(this.#text.push(chunk.text));
        break;
      case "thinking":
        this.#addThinking(this.#thinking.push(chunk.text));
        if (chunk.providerMeta !== undefined) this.#signThinking(chunk.providerMeta);
        break;
      case "tool-start":
        this.#announced.push(chunk.name);
        this.#showCall();
        break;
      case "tool-delta":
        break;
      case "tool-end":
        this.#announced.shift();
        this.#addCall(chunk);
        break;
      case "usage":
        this.usage = chunk.usage;
        break;
      case "finish":
        this.finishReason = chunk.reason;
        break;
      case "error":
        this.failure = chunk;
        break;
    }
  }

  /** The response is over. Unless it was cut, calls that were begun and not finished have broken arguments. */
  end({ isCut }: { isCut: boolean }): void {
    this.#addText(this.#text.end());
    this.#addThinking(this.#thinking.end());
    if (isCut || this.failure !== undefined) return;
    for (const name of this.#announced.splice(0)) this.#addCall({ id: "", name });
  }

  #addText(text: string): void {
    if (text === "") return;
    this.hasOutput = true;
    this.textChars += text.length;
    const last = this.blocks.at(-1);
    if (last?.type === "text") this.blocks[this.blocks.length - 1] = { type: "text", text: last.text + text };
    else this.blocks.push({ type: "text", text });
    this.#deps.events.mode("responding");
    this.#deps.events.publish({ type: "stream_text", text });
  }

  #addThinking(thinking: string): void {
    if (thinking === "") return;
    this.hasOutput = true;
    const last = this.blocks.at(-1);
    if (this.#isThinkingOpen && last?.type === "thinking") {
      this.blocks[this.blocks.length - 1] = { ...last, thinking: last.thinking + thinking };
    } else this.blocks.push({ type: "thinking", thinking });
    this.#isThinkingOpen = true;
    this.#deps.events.mode("thinking");
    this.#deps.events.publish({ type: "thinking", text: thinking });
  }

  /** What the provider wants back closes the block it belongs to. */
  #signThinking(meta: Readonly<Record<string, unknown>>): void {
    this.#addThinking(this.#thinking.end());
    const last = this.blocks.at(-1);
    if (this.#isThinkingOpen && last?.type === "thinking") {
      this.blocks[this.blocks.length - 1] = { ...last, provider_meta: meta };
    } else this.blocks.push({ type: "thinking", thinking: "", provider_meta: meta });
    this.#isThinkingOpen = false;
  }

  #showCall(): void {
    this.hasOutput = true;
    this.#isThinkingOpen = false;
    this.#deps.events.mode("tool-input");
  }

  #addCall(chunk: Pick<ToolEnd, "id" | "name" | "input" | "providerMeta">): void {
    this.#showCall();
    const { agentId } = this.#deps.events;
    const { input, problem } = readInput(chunk);
    const name = chunk.name.toWellFormed();
    const call = { toolUseId: this.#callId(chunk.id), name, input, problem };
    this.calls.push(call);
    const { providerMeta } = chunk;
    this.blocks.push({
      type: "tool_use",
      id: call.toolUseId,
      name,
      input,
      ...(providerMeta !== undefined && { provider_meta: providerMeta }),
    });
    this.#deps.events.publish({
      type: "tool_use",
      tool_name: name,
      tool_input: input,
      tool_use_id: call.toolUseId,
      agent_id: agentId,
    });
  }

  #callId(given: string): string {
    const { conversation, ids } = this.#deps;
    const isUsable =
      given !== "" &&
      given.length <= MAX_CALL_ID_CHARS &&
      given.isWellFormed() &&
      !conversation.hasCall(given);
    const toolUseId = isUsable ? given : newCallId(ids);
    conversation.noteCall(toolUseId);
    return toolUseId;
  }
}

/** The arguments of a call, and what is wrong with them. */
export function readInput({ input }: { input?: ToolInput }): {
  input: ToolInput;
  problem: string | undefined;
} {
  if (input === undefined) return { input: {}, problem: "the arguments are not a JSON object" };
  if (JSON.stringify(input).length > MAX_INPUT_CHARS) {
    return { input: {}, problem: "the arguments are larger than 4 MiB" };
  }
  return { input: wellFormedInput(input), problem: undefined };
}

/** `toolu_` and 24 characters of `[0-9a-z]`. */
function newCallId(ids: IdSource): string {
  let number = BigInt(`0x${ids.hex(16)}`);
  let text = "";
  while (text.length < 24) {
    text = ID_ALPHABET.charAt(Number(number % 36n)) + text;
    number /= 36n;
  }
  return `toolu_${text}`;
}
