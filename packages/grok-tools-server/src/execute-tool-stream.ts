import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import { chunkText, jsonPieces, textPieces } from "@trivium/grok-tools-runtime";
import {
  type ExecuteToolRequest,
  StreamDataChunkSchema,
  StreamDataKind,
  StreamFinalResultSchema,
  type ToolStreamChunk,
  ToolStreamChunkSchema,
} from "@trivium/proto/grok-tools";
import { callTool } from "./call-tool.ts";
import type { GrokToolsServiceDeps } from "./request-metadata.ts";
import { toWireError, toWireMetadata } from "./to-wire.ts";

const DEFAULT_STREAM_CHUNK_BYTES = 1_048_576;
const MAX_STREAM_CHUNK_BYTES = 4_194_304;

/**
 * ExecuteToolStream: the answer of ExecuteTool in slices. First the text, then the JSON, then the final result; each
 * of the first two with offsets of its own.
 */
export async function* executeToolStream(
  deps: GrokToolsServiceDeps,
  request: ExecuteToolRequest,
  context: Pick<HandlerContext, "signal" | "requestHeader">,
): AsyncGenerator<ToolStreamChunk> {
  const chunkBytes = chunkSizeOf(request);
  const { callId, result, metadata } = await callTool(deps, request, context);
  const message = (chunk: ToolStreamChunk["chunk"]): ToolStreamChunk =>
    create(ToolStreamChunkSchema, { callId, chunk });
  const slice = (kind: StreamDataKind, data: Uint8Array, offset: number): ToolStreamChunk =>
    message({ case: "data", value: create(StreamDataChunkSchema, { kind, data, offset: BigInt(offset) }) });
  const final = create(StreamFinalResultSchema, { metadata: toWireMetadata(metadata) });
  if (result.ok) {
    for (const { data, offset } of chunkText(textPieces(result.promptText), chunkBytes)) {
      yield slice(StreamDataKind.PROMPT_TEXT, data, offset);
      final.promptTextSize = BigInt(offset + data.length);
    }
    for (const { data, offset } of chunkText(jsonPieces(result.output), chunkBytes)) {
      yield slice(StreamDataKind.OUTPUT_JSON, data, offset);
      final.outputJsonSize = BigInt(offset + data.length);
    }
  } else {
    final.error = toWireError(result.error);
  }
  yield message({ case: "finalResult", value: final });
}

function chunkSizeOf({ options }: ExecuteToolRequest): number {
  const bytes = options?.streamChunkSize ?? DEFAULT_STREAM_CHUNK_BYTES;
  if (bytes >= 1 && bytes <= MAX_STREAM_CHUNK_BYTES) return bytes;
  throw new TriviumError(
    "invalidInput",
    `stream_chunk_size ${bytes} is not from 1 to ${MAX_STREAM_CHUNK_BYTES}`,
  );
}
