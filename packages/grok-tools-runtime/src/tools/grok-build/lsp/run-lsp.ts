import { abortReason, linkSignals, TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { ResponseError } from "vscode-jsonrpc/node";
import type { z } from "zod";
import { accessFailureOf } from "../../../files/access-failure.ts";
import { toModelPath } from "../../../files/model-path.ts";
import { resolveTarget } from "../../../files/resolve-target.ts";
import { readableRoots } from "../../../files/session-roots.ts";
import { toFileUri } from "../../../lsp/documents/file-uri.ts";
import { openDocument } from "../../../lsp/documents/read-document.ts";
import type { LanguageServer } from "../../../lsp/server/language-server.ts";
import { sessionLsp } from "../../../lsp/session-lsp.ts";
import { shorten } from "../../../shorten.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";
import type { LspInput, LspOperation } from "./lsp-input.ts";
import type { LspParams } from "./lsp-params.ts";
import { operationFacts, type Question, questionOf } from "./question.ts";
import { hoverAnswer, locationsAnswer, symbolsAnswer } from "./read-answers.ts";
import { renderHover, renderLocations, renderSymbols } from "./render-answers.ts";

const TIMEOUT_MS = 30_000;

type LspContext = ToolContext<LspParams>;

/** Runs one call: half a minute for the start of the server and its answer together. */
export async function runLsp(input: LspInput, context: LspContext): Promise<ToolResult> {
  const question = questionOf(input, context);
  using limited = linkSignals([context.signal], { timeoutMs: TIMEOUT_MS, clock: context.clock });
  try {
    const text = await answer(input.operation, question, { context, signal: limited.signal });
    return { output: { type: "Text", text }, promptText: text };
  } catch (thrown) {
    if (context.signal.aborted) throw abortReason(context.signal);
    if (limited.signal.aborted) {
      throw new ToolError(ErrorCode.TIMEOUT, `${input.operation} took longer than ${TIMEOUT_MS / 1000} s`);
    }
    throw toToolError(thrown);
  }
}

interface Call {
  readonly context: LspContext;
  readonly signal: AbortSignal;
}

async function answer(operation: LspOperation, question: Question, call: Call): Promise<string> {
  if (question.about === "project") return await answerAboutProject(question.query, call);
  const { context, signal } = call;
  const { path, server } = await findFile(question.filePath, call);
  const { feature, method } = operationFacts[operation];
  const params = {
    textDocument: { uri: toFileUri(path) },
    ...(question.position !== undefined && { position: question.position }),
    ...(operation === "findReferences" && { context: { includeDeclaration: true } }),
  };
  const found = await server.ask({ feature, method, params, path }, signal);
  context.touched({ access: "read", path });
  const directory = context.workingDirectory;
  if (operation === "hover") return renderHover(read(hoverAnswer, found, server));
  if (operation === "documentSymbol" || operation === "workspaceSymbol") {
    return renderSymbols(read(symbolsAnswer, found, server), { path, directory });
  }
  return renderLocations(labels[operation], read(locationsAnswer, found, server), directory);
}

const labels = {
  goToDefinition: "Definition",
  goToImplementation: "Implementations",
  findReferences: "References",
} as const;

/** Asks every server; those that fail count only when all do. */
async function answerAboutProject(query: string, { context, signal }: Call): Promise<string> {
  const { servers } = context.resource(sessionLsp);
  const { feature, method } = operationFacts.workspaceSymbol;
  const answers = await Promise.allSettled(
    servers.map(async (server) =>
      read(symbolsAnswer, await server.ask({ feature, method, params: { query } }, signal), server),
    ),
  );
  const found = answers.filter((outcome) => outcome.status === "fulfilled");
  const failed = answers.filter((outcome) => outcome.status === "rejected");
  const [first] = failed;
  if (first !== undefined && (found.length === 0 || signal.aborted)) throw first.reason;
  const symbols = found.flatMap(({ value }) => value);
  const notes = failed.map(({ reason }) => `(${shorten(toToolError(reason).message, 300)})`);
  const text = renderSymbols(symbols, { path: undefined, directory: context.workingDirectory });
  return [text, ...notes].join("\n");
}

/** The file a call is about, which can be read, and its server. */
async function findFile(
  given: string,
  { context, signal }: Call,
): Promise<{ readonly path: string; readonly server: LanguageServer }> {
  const named = toModelPath(given, context);
  const path = await resolveTarget(named.path);
  const lsp = context.resource(sessionLsp);
  const server = lsp.serverOf(path);
  const field = context.parameterName("file_path");
  if (server === undefined) {
    throw ToolError.invalidField(field, `no language server is configured for ${named.display}`, {
      filePath: named.display,
      suggestion: `Ask about files with one of these extensions: ${lsp.extensions.join(", ")}.`,
    });
  }
  try {
    await using _file = await openDocument(path, readableRoots(context));
  } catch (cause) {
    const { code, reason } = accessFailureOf(cause, signal);
    const message = code === ErrorCode.FILE_NOT_FOUND ? "does not exist" : "cannot be read";
    throw new ToolError(
      code,
      `${named.display} ${reason === "is_a_directory" ? "is a directory" : message}`,
      {
        cause,
        filePath: named.display,
        details: { field, ...(reason !== undefined && { reason }) },
      },
    );
  }
  return { path, server };
}

function read<Schema extends z.ZodType>(
  schema: Schema,
  found: unknown,
  { name }: LanguageServer,
): z.output<Schema> {
  const parsed = schema.safeParse(found ?? null);
  if (parsed.success) return parsed.data;
  throw new ToolError(
    ErrorCode.EXECUTION_FAILED,
    `LSP error: the answer of ${name} is not one of the protocol`,
  );
}

function toToolError(thrown: unknown): ToolError {
  if (ToolError.isInstance(thrown)) return thrown;
  if (thrown instanceof ResponseError) {
    return new ToolError(ErrorCode.EXECUTION_FAILED, `LSP error: ${shorten(thrown.message, 1000)}`, {
      cause: thrown,
      details: { lsp_code: thrown.code },
    });
  }
  if (!TriviumError.isInstance(thrown)) throw thrown;
  const isUnavailable = thrown.kind === "unavailable";
  return new ToolError(ErrorCode.EXECUTION_FAILED, thrown.message, {
    cause: thrown,
    retryable: isUnavailable,
    ...(isUnavailable && {
      detailKind: "service_unavailable",
      suggestion: "Call again; the server is started anew.",
    }),
  });
}
