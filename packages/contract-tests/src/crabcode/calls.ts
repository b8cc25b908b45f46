import {
  type DescMethodStreaming,
  type DescMethodUnary,
  fromJson,
  type JsonValue,
  toJson,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { ErrorInfoSchema } from "@trivium/proto/error-details";
import type { Json, RpcName } from "./vector.ts";

/** How a call ended. Names as the contract writes them: `OK`, `NOT_FOUND`. */
export interface Status {
  readonly code: string;
  /** Reason of its ErrorInfo. */
  readonly reason?: string;
  readonly message?: string;
}

/** A call by name, its request in JSON with the field names of the contract. */
export interface Call {
  readonly rpc: RpcName;
  readonly request: Json;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The payload of an event, for looking into it. */
export type Payload = Json & { readonly type: string };

/** Who reads a stream of events. */
export interface EventReader {
  readonly signal: AbortSignal;
  /** The response has begun. */
  readonly onHeaders: () => void;
  readonly onEvent: (payload: Payload) => void;
}

const OK: Status = { code: "OK" };

/** True for calls that answer with a stream. */
export function isStreaming(rpc: RpcName): boolean {
  return methodOf(rpc).methodKind === "server_streaming";
}

/** Makes a unary call; its response in JSON with the field names of the contract, defaults written out. */
export async function callUnary(
  transport: Transport,
  { rpc, request, metadata }: Call,
): Promise<{ readonly status: Status; readonly response?: Json }> {
  const method = methodOf(rpc) as DescMethodUnary;
  try {
    const { message } = await transport.unary(
      method,
      undefined,
      undefined,
      metadata,
      fromJson(method.input, request as JsonValue),
    );
    const response = toJson(method.output, message, { useProtoFieldName: true, alwaysEmitImplicit: true });
    return { status: OK, response: response as Json };
  } catch (thrown) {
    return { status: statusOf(thrown) };
  }
}

/** Opens a stream of events and reads it to its end. */
export async function readEvents(
  transport: Transport,
  { rpc, request, metadata }: Call,
  reader: EventReader,
): Promise<Status> {
  const method = methodOf(rpc) as DescMethodStreaming as typeof CrabCodeService.method.sendMessage;
  const message = fromJson(method.input, request as JsonValue);
  try {
    const response = await transport.stream(
      method,
      reader.signal,
      undefined,
      metadata,
      (async function* () {
        yield message;
      })(),
    );
    reader.onHeaders();
    for await (const { type, payloadJson } of response.message) {
      const payload = JSON.parse(payloadJson) as Payload;
      if (payload.type !== type) throw new Error(`an event ${type} has a payload of type ${payload.type}`);
      reader.onEvent(payload);
    }
    return OK;
  } catch (thrown) {
    return statusOf(thrown);
  }
}

function methodOf(rpc: RpcName) {
  const method = CrabCodeService.methods.find(({ name }) => name === rpc);
  if (method === undefined) throw new Error(`the contract has no method ${rpc}`);
  return method;
}

function statusOf(thrown: unknown): Status {
  const error = ConnectError.from(thrown);
  const reason = error.findDetails(ErrorInfoSchema)[0]?.reason;
  return {
    code: contractName(Code[error.code] ?? String(error.code)),
    message: error.rawMessage,
    ...(reason !== undefined && { reason }),
  };
}

/** `NotFound` is `NOT_FOUND` in the contract; the one name with two spellings is `Canceled`. */
function contractName(name: string): string {
  return name === "Canceled" ? "CANCELLED" : name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}
