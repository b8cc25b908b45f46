import type { ServerToolCall, ServerTools, ToolCallResult, ToolDefinition } from "@trivium/code-mode-runtime";
import type { ChoiceAsker, ToolAnswer, ToolCard, ToolError, ToolSession } from "@trivium/grok-tools-runtime";
import { ErrorCode, ErrorCodeSchema } from "@trivium/proto/grok-tools";
import { toCellJson } from "./cell-json.ts";
import type { Authorise } from "./tool-rules.ts";

/** What the tools of one session work with. */
export interface GrokServerToolsOptions {
  readonly session: ToolSession;
  readonly authorise: Authorise;
  /** Who is asked what its tools ask. Absent: as the tool session has it. */
  readonly choiceAsker?: ChoiceAsker | undefined;
  /** Only tools that change nothing are offered. */
  readonly isReadOnly: boolean;
  /** Ends the tool session with the session of code mode. Absent: it belongs to others. */
  readonly close?: () => Promise<void>;
}

const MAX_RESULT_BYTES = 16 * 1024 * 1024;

const outputSchemaJson = JSON.stringify({
  type: "object",
  properties: { text: { type: "string" }, output: {} },
  required: ["text", "output"],
});

/** The tools of a Grok session for the programs of one session of code mode. */
export class GrokServerTools implements ServerTools {
  readonly namespace: string = "grok";
  readonly #options: GrokServerToolsOptions;
  #cards: readonly ToolCard[];

  constructor(options: GrokServerToolsOptions) {
    this.#options = options;
    this.#cards = options.session.listTools();
  }

  definitions(): ToolDefinition[] {
    const { session, isReadOnly } = this.#options;
    // A session that was closed under us keeps its names: calls then say what is wrong.
    if (session.status === "finalized") this.#cards = session.listTools();
    const offered = this.#cards.filter(({ capabilities }) => !isReadOnly || capabilities.isReadOnly);
    return offered.map(({ name, description, inputSchema }) => ({
      name: `${this.namespace}__${name}`,
      toolName: name,
      namespace: this.namespace,
      description,
      kind: "function",
      inputSchemaJson: JSON.stringify(inputSchema),
      outputSchemaJson,
    }));
  }

  async call({ callId, name, inputJson = "{}", signal }: ServerToolCall): Promise<ToolCallResult> {
    if (!inputJson.startsWith("{")) {
      return failed(ErrorCode.INVALID_INPUT, `the tool ${name} takes one object, or nothing`);
    }
    const { session, authorise, choiceAsker } = this.#options;
    const { result } = await session.execute(name, inputJson, {
      callId,
      signal,
      logicalErrors: "error",
      byteBuffers: "text",
      // Calls of children that this one starts are named under it: their own ids may be anybody's.
      authorise: (request) =>
        authorise(
          request.callId === callId ? request : { ...request, callId: `${callId}/${request.callId}` },
        ),
      ...(choiceAsker !== undefined && { choiceAsker }),
    });
    return result.ok ? toResult(result, name) : toFailure(result.error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#options.close?.();
  }
}

function toResult(
  { promptText: text, output }: Extract<ToolAnswer["result"], { ok: true }>,
  name: string,
): ToolCallResult {
  const outputJson = toCellJson({ text, output });
  if (outputJson === undefined) {
    return failed(ErrorCode.EXECUTION_FAILED, `the result of ${name} is nested too deeply for a program`);
  }
  const bytes = Buffer.byteLength(outputJson);
  if (bytes <= MAX_RESULT_BYTES) return { type: "succeeded", outputJson };
  return failed(
    ErrorCode.EXECUTION_FAILED,
    `the result of ${name} takes ${bytes} bytes; a program can be given ${MAX_RESULT_BYTES}`,
  );
}

function toFailure({ code, message, suggestion, details }: ToolError): ToolCallResult {
  if (details["reason"] === "not_authorised") {
    return { type: "failed", message: `Permission denied: ${message}` };
  }
  return failed(code, suggestion === undefined ? message : `${message} (${suggestion})`);
}

function failed(code: ErrorCode, message: string): ToolCallResult {
  const name = ErrorCodeSchema.value[code]?.name ?? `ERROR_CODE_${code}`;
  return { type: "failed", message: `${name}: ${message}` };
}
