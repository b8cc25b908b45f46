import {
  type DescField,
  type DescMessage,
  isMessage,
  type Message,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";

/** A text or byte field of so many characters or bytes is large. */
const LARGE_LENGTH = 64 * 1024;

const BYTES_WIRE_TYPE = 2;

/** A field that can be large, or hold a message with one. */
interface Spot {
  readonly field: DescField;
  readonly read: (message: Message) => unknown;
}

const spotsOfType = new WeakMap<DescMessage, readonly Spot[]>();

/** Whether a message has a large field, at any depth. */
export function hasLargeField(desc: DescMessage, message: Message): boolean {
  return spotsOf(desc).some(({ field, read }) => isLarge(field, read(message)));
}

/**
 * The bytes of a message in pieces. Large fields come last, and each is encoded once and copied nowhere; the usual
 * encoder grows and shifts its one buffer with all of them in it.
 */
export function encodeInPieces(desc: DescMessage, message: Message): Uint8Array[] {
  const rest: Message = Object.assign(Object.create(Object.getPrototypeOf(message)), message);
  const view = reflect(desc, rest);
  const pieces: Uint8Array[] = [];
  for (const { field, read } of spotsOf(desc)) {
    const value = read(message);
    if (!isLarge(field, value)) continue;
    view.clear(field);
    for (const one of Array.isArray(value) ? value : [value]) pieces.push(...encodeValue(field, one));
  }
  return [toBinary(desc, rest), ...pieces];
}

function encodeValue(field: DescField, value: unknown): Uint8Array[] {
  const content = contentOf(field, value);
  const byteLength = content.reduce((sum, piece) => sum + piece.byteLength, 0);
  return [
    Uint8Array.from([...varint(field.number * 8 + BYTES_WIRE_TYPE), ...varint(byteLength)]),
    ...content,
  ];
}

function contentOf(field: DescField, value: unknown): Uint8Array[] {
  if (typeof value === "string") return [encodeText(value)];
  if (value instanceof Uint8Array) return [value];
  const { message } = field;
  if (message === undefined || !isMessage(value, message))
    throw new TypeError(`${field.name} has another type`);
  return hasLargeField(message, value) ? encodeInPieces(message, value) : [toBinary(message, value)];
}

/** Encoded texts, until they are given back. */
const ownPieces = new WeakSet<Uint8Array>();

function encodeText(text: string): Uint8Array {
  const byteLength = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafeSlow(byteLength);
  // As many bytes as characters: nothing has to be encoded.
  bytes.write(text, byteLength === text.length ? "latin1" : "utf8");
  ownPieces.add(bytes);
  return bytes;
}

/**
 * Gives the memory of a piece back, if {@link encodeInPieces} has made it, once it has been written. The garbage
 * collector would go through all objects of the process for a few such pieces.
 */
export function releasePiece(piece: Uint8Array): void {
  if (ownPieces.delete(piece) && piece.buffer instanceof ArrayBuffer) piece.buffer.transfer(0);
}

function isLarge(field: DescField, value: unknown): boolean {
  // A wrapper message is kept as the value in it, which the usual encoder wraps.
  const isScalar = field.message === undefined;
  if (typeof value === "string" || value instanceof Uint8Array)
    return isScalar && value.length >= LARGE_LENGTH;
  if (Array.isArray(value)) return value.some((one) => isLarge(field, one));
  // A few well-known types are kept as plain values, which the usual encoder takes.
  return (
    field.message !== undefined && isMessage(value, field.message) && hasLargeField(field.message, value)
  );
}

function spotsOf(desc: DescMessage): readonly Spot[] {
  let spots = spotsOfType.get(desc);
  if (spots === undefined) {
    spots = desc.fields.filter(canBeLarge).map((field) => ({ field, read: readerOf(field) }));
    spotsOfType.set(desc, spots);
  }
  return spots;
}

function canBeLarge(field: DescField): boolean {
  if (field.fieldKind === "map" || field.fieldKind === "enum") return false;
  // Without one that must be there the usual encoder refuses the rest of the message.
  if (field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED) return false;
  if (field.message !== undefined) return !("delimitedEncoding" in field && field.delimitedEncoding);
  return field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES;
}

function readerOf({ localName, oneof }: DescField): Spot["read"] {
  if (oneof === undefined) return (message) => Reflect.get(message, localName);
  return (message) => {
    const chosen: unknown = Reflect.get(message, oneof.localName);
    if (typeof chosen !== "object" || chosen === null || !("case" in chosen) || !("value" in chosen)) return;
    return chosen.case === localName ? chosen.value : undefined;
  };
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return bytes;
}
