import { abortReason } from "@trivium/core";
import type { Message, MessageBlock } from "../../conversation/message.ts";
import type { ModelChunk, ModelPort, ModelRequest } from "../../ports/model-port.ts";
import { estimateRequest, estimateTokens } from "../../turn/token-estimate.ts";
import {
  type Explanation,
  helpAnswer,
  malformedAnswer,
  notOfferedAnswer,
  summaryAnswer,
  unknownAnswer,
} from "./offline-answer.ts";
import { commandLines, type OfflineCommand, parseCommand } from "./offline-command.ts";

/** Name of the profile that always exists. */
export const OFFLINE_PROFILE = "offline";

/** Model id that ListModels shows. */
export const OFFLINE_MODEL = "offline-rules";

/**
 * A rule program behind the model port, for machines without any model. It is deterministic, calls real tools and
 * says in every answer that it is no language model.
 *
 * @param reason why a configured model is not used, for the answers
 */
export function createOfflineModel(reason?: string): ModelPort {
  return {
    provider: OFFLINE_PROFILE,
    model: OFFLINE_MODEL,
    contextWindowTokens: 200_000,
    maxOutputTokens: 16_384,
    maxRetries: 0,
    allowsBackgroundRequests: false,
    async *stream(request) {
      // The loop may abort while it reads; there is nothing else to wait for.
      for (const chunk of answer(request, reason)) {
        if (request.signal.aborted) throw abortReason(request.signal);
        yield chunk;
      }
    },
  };
}

function* answer(request: ModelRequest, reason: string | undefined): Generator<ModelChunk, void, undefined> {
  const command = parseCommand(commandText(request.messages));
  const result = lastResult(request.messages);
  if (command.kind === "call" && result === undefined && isOffered(command, request)) {
    const input = JSON.stringify(command.input);
    const id = `offline_${countCalls(request.messages) + 1}`;
    yield { type: "tool-start", id, name: command.tool };
    yield { type: "tool-delta", id, json: input };
    yield { type: "tool-end", id, name: command.tool, input: command.input };
    yield* ending(request, { output: input, reason: "tool-calls" });
    return;
  }
  const commands = commandLines((tool) => request.tools.some(({ name }) => name === tool));
  const text = answerText(command, result, { commands, reason });
  yield { type: "text", text };
  yield* ending(request, { output: text, reason: "stop" });
}

type ToolResult = Extract<MessageBlock, { type: "tool_result" }>;

function answerText(
  command: OfflineCommand,
  result: ToolResult | undefined,
  explanation: Explanation,
): string {
  switch (command.kind) {
    case "help":
      return helpAnswer(explanation);
    case "unknown":
      return unknownAnswer(explanation);
    case "malformed":
      return malformedAnswer(command.usage);
    case "call":
      return result === undefined ? notOfferedAnswer(command) : summaryAnswer(command, result);
  }
}

/** In agent mode a plan makes no sense, although the tool is there: files can be written then. */
function isOffered(command: Extract<OfflineCommand, { kind: "call" }>, { tools }: ModelRequest): boolean {
  if (command.word === "plan" && tools.some(({ name }) => name === "Write")) return false;
  return tools.some(({ name }) => name === command.tool);
}

function* ending(
  request: ModelRequest,
  { output, reason }: { readonly output: string; readonly reason: "stop" | "tool-calls" },
): Generator<ModelChunk, void, undefined> {
  const usage = { inputTokens: estimateRequest(request), outputTokens: estimateTokens(output) };
  yield { type: "usage", usage };
  yield { type: "finish", reason };
}

/** Text of the newest user message that is a message of the user, not only results of calls. */
function commandText(messages: readonly Message[]): string {
  const message = messages.findLast(
    ({ role, content, origin }) =>
      role === "user" && origin !== "skill" && !content.some((block) => block.type === "tool_result"),
  );
  const texts = (message?.content ?? []).filter((block) => block.type === "text").map((block) => block.text);
  return texts.join("\n");
}

/** Result of the call that the last step made; undefined in the first step of a turn. */
function lastResult(messages: readonly Message[]): ToolResult | undefined {
  const last = messages.at(-1);
  return last?.role === "user" ? last.content.find((block) => block.type === "tool_result") : undefined;
}

function countCalls(messages: readonly Message[]): number {
  return messages.flatMap(({ content }) => content).filter((block) => block.type === "tool_use").length;
}
