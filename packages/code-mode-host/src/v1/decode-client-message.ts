import type { ClientMessage, DelegateResult, Hello } from "./client-message.ts";
import { decodeOperation } from "./decode-operation.ts";
import { integerRanges } from "./integer-ranges.ts";
import { JsonNode } from "./json-node.ts";
import { MessageFields } from "./message-fields.ts";
import { ProtocolError } from "./protocol-error.ts";
import { requireName } from "./require-name.ts";

/**
 * Reads one message of a client.
 *
 * @throws {@link ProtocolError} for anything the protocol does not know: unknown and repeated keys, wrong types,
 * integers out of range.
 */
export function decodeClientMessage(payload: Uint8Array): ClientMessage {
  const fields = new MessageFields(JsonNode.parse(payload));
  const type = fields.string("type");
  const message = decodeByType(type, fields);
  fields.end();
  return message;
}

function decodeByType(type: string, fields: MessageFields): ClientMessage {
  switch (type) {
    case "connection/hello":
      return { type, hello: decodeHello(fields) };
    case "operation/request":
      return { type, id: decodeId(fields), request: decodeOperation(fields.required("request")) };
    case "operation/cancel":
    case "operation/yield":
      return { type, id: decodeId(fields) };
    case "delegate/response":
      return { type, id: decodeId(fields), result: decodeResult(fields.required("result")) };
    default:
      throw new ProtocolError(`there is no message type ${type}`);
  }
}

function decodeId(fields: MessageFields): bigint {
  return fields.required("id").integer(integerRanges.i64);
}

function decodeHello(fields: MessageFields): Hello {
  const versions = fields
    .required("supportedVersions")
    .array()
    .map((node) => node.integer(integerRanges.version));
  const required = decodeNames(fields.required("requiredCapabilities"));
  const optional = decodeNames(fields.required("optionalCapabilities"));
  if (versions.length === 0) throw new ProtocolError("supportedVersions is empty");
  assertDistinct("supportedVersions", versions);
  assertDistinct("capabilities", [...required, ...optional]);
  return { supportedVersions: versions, requiredCapabilities: required, optionalCapabilities: optional };
}

function decodeNames(node: JsonNode): string[] {
  return node.array().map(requireName);
}

function assertDistinct(what: string, values: readonly unknown[]): void {
  if (new Set(values).size < values.length) throw new ProtocolError(`${what} names something twice`);
}

function decodeResult(node: JsonNode): DelegateResult {
  const fields = new MessageFields(node);
  const status = fields.string("status");
  let result: DelegateResult;
  if (status === "ok") result = decodeValue(fields.required("value"));
  else if (status === "error") result = { type: "error", message: fields.string("message") };
  else throw new ProtocolError(`there is no status ${status}`);
  fields.end();
  return result;
}

function decodeValue(node: JsonNode): DelegateResult {
  const fields = new MessageFields(node);
  const type = fields.string("type");
  // The original host reads nothing but the type here.
  if (type === "notification/delivered") return { type: "notification-delivered" };
  if (type !== "tool/result") throw new ProtocolError(`there is no delegate result ${type}`);
  const { json } = fields.required("result");
  fields.end();
  return { type: "tool-result", json };
}
