import { create } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createRouterTransport,
  type ServiceImpl,
  type Transport,
} from "@connectrpc/connect";
import {
  ErrorCode,
  ExecuteToolResponseSchema,
  FinalizeConfigValidationDetailsSchema,
  FinalizeToolServerConfigResponseSchema,
  GrokToolsService,
  StreamDataKind,
  ToolErrorSchema,
  ToolInfoSchema,
  ToolStreamChunkSchema,
} from "@trivium/proto/grok-tools";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GrokToolsClient, openToolSession } from "./grok-tools-client.ts";
import { FinalizeConfigError, NotFinalizedError } from "./session-errors.ts";
import { ToolCallError } from "./tool-error.ts";
import type { ToolSession } from "./tool-session.ts";

type Service = Partial<ServiceImpl<typeof GrokToolsService>>;

/** A server that answers as the test says; finalize succeeds with one tool. */
function server(methods: Service): Transport {
  return createRouterTransport(({ service }) =>
    service(GrokToolsService, {
      finalizeToolConfigRequest: () =>
        create(FinalizeToolServerConfigResponseSchema, {
          success: true,
          message: "1 tool configured\nwarning: ignored_param:x",
          tools: [{ name: "say" }],
        }),
      ...methods,
    }),
  );
}

function open(methods: Service): Promise<ToolSession> {
  return openToolSession(server(methods), { tools: ["Sample:say"], sessionId: "s" });
}

describe("openToolSession", () => {
  it("sends the configuration and gives tools and warnings", async () => {
    let seen: unknown;
    const session = await openToolSession(
      server({
        finalizeToolConfigRequest(request, { requestHeader }) {
          seen = {
            request,
            session: requestHeader.get("x-trivium-session"),
            cwd: requestHeader.get("x-trivium-cwd"),
            asks: requestHeader.get("trivium-permission-session"),
          };
          return create(FinalizeToolServerConfigResponseSchema, {
            message: "ok\nwarning: state_corrupt",
            tools: [create(ToolInfoSchema, { name: "talk" })],
          });
        },
      }),
      {
        sessionId: "s",
        cwd: "/w",
        permissionSession: "people",
        initialState: { params: {} },
        tools: [
          "Sample:a",
          { id: "Sample:say", name: "talk", params: { loud: true }, parameterNames: { text: "words" } },
        ],
      },
    );
    expect(seen).toMatchObject({
      session: "s",
      cwd: "/w",
      asks: "people",
      request: {
        initialToolStateJson: '{"params":{}}',
        tools: [
          { id: "Sample:a", paramsNameOverrides: {} },
          {
            id: "Sample:say",
            nameOverride: "talk",
            paramsJson: '{"loud":true}',
            paramsNameOverrides: { text: "words" },
          },
        ],
      },
    });
    expect(session).toMatchObject({ sessionId: "s", warnings: ["state_corrupt"], tools: [{ name: "talk" }] });
  });

  it("takes a session of its own when none is named", async () => {
    const ids = new Set<string | null>();
    const transport = server({
      executeTool(_request, { requestHeader }) {
        ids.add(requestHeader.get("x-trivium-session"));
        return create(ExecuteToolResponseSchema, {
          result: { case: "success", value: { outputJson: "{}" } },
        });
      },
    });
    for (let count = 0; count < 2; count++) {
      await (await openToolSession(transport, { tools: [] })).call("say", {});
    }
    expect(ids.size).toBe(2);
    expect(ids).not.toContain(null);
  });

  it("throws the violations of a refused configuration", async () => {
    const refusal = new ConnectError("refused", Code.InvalidArgument, undefined, [
      {
        desc: FinalizeConfigValidationDetailsSchema,
        value: { violations: [{ toolId: "x", category: "tool_not_found", message: "none", entryIndex: 0 }] },
      },
    ]);
    const call = open({
      finalizeToolConfigRequest() {
        throw refusal;
      },
    });
    const error: unknown = await call.catch((reason: unknown) => reason);
    if (!FinalizeConfigError.isInstance(error)) throw error;
    expect(error.violations).toMatchObject([{ entryIndex: 0, category: "tool_not_found" }]);
  });
});

describe("GrokToolsClient", () => {
  it("refuses a session id the server would refuse", () => {
    const construct = () => new GrokToolsClient(server({}), { sessionId: "" });
    expect(construct).toThrow(expect.objectContaining({ kind: "invalidInput" }));
  });

  it("refuses a folder that metadata cannot carry", async () => {
    const call = new GrokToolsClient(server({})).finalize({ tools: [], cwd: "/héllo" });
    await expect(call).rejects.toMatchObject({ kind: "invalidInput" });
  });

  it("attaches only to a session that is finalized", async () => {
    const transport = server({
      executeTool() {
        throw new ConnectError("call FinalizeToolConfigRequest first", Code.FailedPrecondition);
      },
    });
    const error: unknown = await new GrokToolsClient(transport).attach().catch((reason: unknown) => reason);
    expect(NotFinalizedError.isInstance(error)).toBe(true);
  });
});

describe("ToolSession.call", () => {
  it("sends input, options and metadata", async () => {
    let seen: unknown;
    const session = await open({
      executeTool(request, context) {
        seen = {
          request,
          headers: Object.fromEntries(context.requestHeader),
          timeoutMs: context.timeoutMs(),
        };
        return create(ExecuteToolResponseSchema, {
          callId: "c",
          result: { case: "success", value: { outputJson: '{"type":"Text"}', promptText: "hi" } },
          metadata: { durationMs: 3n, estimatedTokens: 1, truncated: true, toolVersion: "1" },
        });
      },
    });
    const result = await session.call(
      "say",
      { text: "a" },
      { timeoutMs: 1000, callId: "c", concise: true, idempotencyKey: "k", logicalErrors: "output" },
    );
    expect(result).toEqual({
      ok: true,
      callId: "c",
      output: { type: "Text" },
      promptText: "hi",
      metadata: {
        durationMs: 3,
        estimatedTokens: 1,
        isTruncated: true,
        toolVersion: "1",
        contractVersion: "",
      },
    });
    expect(seen).toMatchObject({
      request: { toolName: "say", inputJson: '{"text":"a"}', callId: "c", options: { timeoutMs: 1000n } },
      headers: {
        "x-trivium-session": "s",
        "x-trivium-output": "text",
        "x-trivium-logical-errors": "output",
        "idempotency-key": "k",
      },
    });
  });

  it("gives the failure of a tool as a result, or throws it", async () => {
    const session = await open({
      executeTool: () =>
        create(ExecuteToolResponseSchema, {
          result: {
            case: "error",
            value: create(ToolErrorSchema, {
              code: ErrorCode.FILE_NOT_FOUND,
              message: "gone",
              detailsJson: '{"kind":"logical"}',
              retryable: false,
              filePath: "/w/a",
            }),
          },
        }),
    });
    const result = await session.call("say", {});
    expect(result).toMatchObject({
      ok: false,
      error: {
        code: ErrorCode.FILE_NOT_FOUND,
        message: "gone",
        details: { kind: "logical" },
        filePath: "/w/a",
      },
    });
    const thrown: unknown = await session.callOrThrow("say", {}).catch((reason: unknown) => reason);
    expect(ToolCallError.isInstance(thrown)).toBe(true);
    expect(thrown).toMatchObject({ kind: "notFound" });
  });

  it("tells a session without tools from other failed preconditions", async () => {
    const session = await open({
      executeTool() {
        throw new ConnectError("call FinalizeToolConfigRequest first", Code.FailedPrecondition);
      },
      getToolState() {
        throw new ConnectError("something else", Code.FailedPrecondition);
      },
    });
    await expect(session.call("say", {})).rejects.toMatchObject({ name: "NotFinalizedError" });
    const state: unknown = await session.state().catch((reason: unknown) => reason);
    expect(state).toMatchObject({ kind: "failedPrecondition" });
    expect(NotFinalizedError.isInstance(state)).toBe(false);
  });

  it("is cancelled by its signal", async () => {
    const started = Promise.withResolvers<void>();
    const session = await open({
      executeTool: (_request, { signal }) =>
        new Promise((_resolve, reject) => {
          started.resolve();
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        }),
    });
    const controller = new AbortController();
    const call = session.call("say", {}, { signal: controller.signal });
    await started.promise;
    controller.abort();
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("gives the state as an object", async () => {
    const session = await open({ getToolState: () => ({ stateJson: '{"params":{},"state":{"a":1}}' }) });
    expect(await session.state()).toEqual({ params: {}, state: { a: 1 } });
  });
});

type Slice = { kind: StreamDataKind; data: Uint8Array; offset: bigint };

/** A stream of the given slices and sizes. */
async function* streamOf(
  slices: readonly Slice[],
  sizes: { promptTextSize: bigint; outputJsonSize: bigint },
) {
  for (const value of slices)
    yield create(ToolStreamChunkSchema, { callId: "c", chunk: { case: "data", value } });
  yield create(ToolStreamChunkSchema, {
    callId: "c",
    chunk: { case: "finalResult", value: { ...sizes, metadata: { durationMs: 5n } } },
  });
}

/** Cuts at any byte, as servers may. */
function cut(kind: StreamDataKind, text: string, size: number): Slice[] {
  const bytes = new TextEncoder().encode(text);
  const slices: Slice[] = [];
  for (let offset = 0; offset < bytes.length; offset += size) {
    slices.push({ kind, data: bytes.slice(offset, offset + size), offset: BigInt(offset) });
  }
  return slices;
}

const sizeOf = (text: string): bigint => BigInt(new TextEncoder().encode(text).length);

async function readAll(pieces: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += piece;
  return text;
}

describe("ToolSession.stream", () => {
  it("gives what call gives, wherever the slices are cut, and the text as it comes", async () => {
    const check = async (promptText: string, size: number): Promise<void> => {
      const outputJson = JSON.stringify({ text: promptText });
      const session = await open({
        executeToolStream: () =>
          streamOf(
            [
              ...cut(StreamDataKind.PROMPT_TEXT, promptText, size),
              ...cut(StreamDataKind.OUTPUT_JSON, outputJson, size),
            ],
            { promptTextSize: sizeOf(promptText), outputJsonSize: sizeOf(outputJson) },
          ),
      });
      const stream = session.stream("say", {});
      expect(await readAll(stream)).toBe(promptText);
      expect(await stream.result).toMatchObject({
        ok: true,
        callId: "c",
        promptText,
        output: { text: promptText },
      });
    };
    const texts = fc.string({ unit: "grapheme", maxLength: 30 });
    await fc.assert(fc.asyncProperty(texts, fc.integer({ min: 1, max: 9 }), check), { numRuns: 50 });
  });

  const good = cut(StreamDataKind.PROMPT_TEXT, "abcd", 2);
  it.each([
    ["a gap", [good[1]], { promptTextSize: 4n, outputJsonSize: 0n }],
    ["a wrong size", good, { promptTextSize: 5n, outputJsonSize: 0n }],
    ["a repeated slice", [...good, ...good], { promptTextSize: 8n, outputJsonSize: 0n }],
  ])("refuses %s", async (_name, slices, sizes) => {
    const session = await open({
      executeToolStream: () =>
        streamOf(
          slices.filter((slice) => slice !== undefined),
          sizes,
        ),
    });
    const stream = session.stream("say", {});
    await expect(stream.result).rejects.toMatchObject({ name: "StreamIntegrityError" });
    await expect(readAll(stream)).rejects.toMatchObject({ name: "StreamIntegrityError" });
  });

  it("refuses a stream without an end", async () => {
    const session = await open({
      async *executeToolStream() {
        for (const value of good) yield create(ToolStreamChunkSchema, { chunk: { case: "data", value } });
      },
    });
    await expect(session.stream("say", {}).result).rejects.toMatchObject({ name: "StreamIntegrityError" });
  });

  it("gives the failure of a tool as a result", async () => {
    const session = await open({
      async *executeToolStream() {
        yield create(ToolStreamChunkSchema, {
          callId: "c",
          chunk: {
            case: "finalResult",
            value: { error: { code: ErrorCode.TIMEOUT, message: "late", retryable: true } },
          },
        });
      },
    });
    const stream = session.stream("say", {});
    expect(await stream.result).toMatchObject({
      ok: false,
      error: { code: ErrorCode.TIMEOUT, isRetryable: true },
    });
    expect(await readAll(stream)).toBe("");
  });

  it("leaves no rejection behind when nobody looks", async () => {
    const failed = Promise.withResolvers<void>();
    const session = await open({
      // oxlint-disable-next-line require-yield -- it fails first
      async *executeToolStream() {
        failed.resolve();
        throw new ConnectError("gone", Code.Unavailable);
      },
    });
    session.stream("say", {});
    await failed.promise;
  });
});
