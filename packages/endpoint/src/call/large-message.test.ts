import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_wrappers,
  UninterpretedOptionSchema,
} from "@bufbuild/protobuf/wkt";
import {
  CompleteToolCallRequestSchema,
  ExecuteEventSchema,
  WaitResponseSchema,
} from "@trivium/proto/code-mode";
import { describe, expect, it } from "vitest";
import { encodeInPieces, hasLargeField } from "./large-message.ts";

const long = "x".repeat(64 * 1024);
const wide = "é€😀".repeat(30_000);

const item = (text: string) => ({ item: { case: "text", value: { text } } }) as const;
const outcome = (...texts: string[]) =>
  ({
    cellId: "1",
    contentItems: texts.map(item),
    outcome: { case: "completed", value: { errorText: "no" } },
    codeModeHostDurationNs: 5n,
  }) as const;

function roundTrip(desc: DescMessage, message: Message): Message {
  return fromBinary(desc, new Uint8Array(Buffer.concat(encodeInPieces(desc, message))));
}

describe("a large message", () => {
  it.each([
    ["a text", [long]],
    ["a text beyond ASCII", [wide]],
    ["texts among short ones", ["a", long, "b", wide, "c"]],
    ["halves of surrogate pairs", [`\ud800${long}\udc00`]],
  ])("with %s says the same as from the usual encoder", (_, texts) => {
    const message = create(ExecuteEventSchema, { event: { case: "outcome", value: outcome(...texts) } });
    expect(hasLargeField(ExecuteEventSchema, message)).toBe(true);
    const usual = fromBinary(ExecuteEventSchema, toBinary(ExecuteEventSchema, message));
    expect(roundTrip(ExecuteEventSchema, message)).toEqual(usual);
  });

  it("with bytes does not copy them", () => {
    const outputJson = new Uint8Array(100_000).fill(7);
    const message = create(CompleteToolCallRequestSchema, {
      sessionId: "s",
      outcome: { case: "succeeded", value: { outputJson } },
    });
    expect(encodeInPieces(CompleteToolCallRequestSchema, message)).toContain(outputJson);
    expect(roundTrip(CompleteToolCallRequestSchema, message)).toEqual(message);
  });

  it("may have a large field that must be there", () => {
    const message = create(UninterpretedOptionSchema, { name: [{ namePart: long, isExtension: true }] });
    expect(roundTrip(UninterpretedOptionSchema, message)).toEqual(message);
  });

  it("is not changed", () => {
    const message = create(WaitResponseSchema, { state: { case: "liveCell", value: outcome("a", long) } });
    const before = structuredClone(message);
    encodeInPieces(WaitResponseSchema, message);
    expect(message).toEqual(before);
  });

  it("may have fields of every kind, lists of texts and optional ones, and unknown ones", () => {
    const message = create(FileDescriptorProtoSchema, {
      name: long,
      dependency: ["short", long, ""],
      publicDependency: [1, 2],
      messageType: [{ name: "M", field: [{ name: "f", number: 1, defaultValue: long }] }, { name: "N" }],
      options: { javaPackage: long, deprecated: true, ccEnableArenas: false },
      syntax: "proto3",
    });
    message.$unknown = [{ no: 900, wireType: 0, data: Uint8Array.of(3) }];
    expect(roundTrip(FileDescriptorProtoSchema, message)).toEqual(message);
  });
});

describe("a wrapped text or byte string", () => {
  const file = create(FileDescriptorProtoSchema, {
    name: "wrapped.proto",
    syntax: "proto3",
    dependency: ["google/protobuf/wrappers.proto"],
    messageType: [
      {
        name: "Wrapped",
        field: [
          { name: "text", number: 1, type: 11, label: 1, typeName: ".google.protobuf.StringValue" },
          { name: "data", number: 2, type: 11, label: 1, typeName: ".google.protobuf.BytesValue" },
        ],
      },
    ],
  });
  const registry = createFileRegistry(file, (name) =>
    name === "google/protobuf/wrappers.proto" ? file_google_protobuf_wrappers : undefined,
  );
  const desc = registry.getMessage("Wrapped");

  it("keeps its wrapper", () => {
    if (desc === undefined) throw new Error("no such type");
    const fields = { text: long, data: new Uint8Array(100_000).fill(7) };
    const message = Object.assign(create(desc), fields);
    expect(fromBinary(desc, new Uint8Array(Buffer.concat(encodeLike(desc, message))))).toEqual(message);
  });

  /** As answers are encoded. */
  function encodeLike(type: DescMessage, message: Message): Uint8Array[] {
    return hasLargeField(type, message) ? encodeInPieces(type, message) : [toBinary(type, message)];
  }
});

describe("a message of ordinary size", () => {
  it("has no large field", () => {
    const short = long.slice(1);
    const message = create(ExecuteEventSchema, { event: { case: "outcome", value: outcome(short, short) } });
    expect(hasLargeField(ExecuteEventSchema, message)).toBe(false);
    expect(hasLargeField(ExecuteEventSchema, create(ExecuteEventSchema, {}))).toBe(false);
  });
});
