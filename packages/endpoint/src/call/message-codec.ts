import {
  create,
  type DescMessage,
  fromBinary,
  isMessage,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeInPieces, hasLargeField } from "./large-message.ts";

type MessageInit = MessageInitShape<DescMessage>;

/** @throws ConnectError for bytes that are no such message */
export function decode(desc: DescMessage, bytes: Uint8Array): Message {
  try {
    return fromBinary(desc, bytes);
  } catch (thrown) {
    throw new ConnectError(`parse binary: ${textOf(thrown)}`, Code.Internal);
  }
}

/**
 * The bytes of a message, in several pieces when it is large.
 *
 * @throws ConnectError for a message with a value that its field cannot hold
 */
export function encode(desc: DescMessage, message: Message): Uint8Array[] {
  try {
    return hasLargeField(desc, message) ? encodeInPieces(desc, message) : [toBinary(desc, message)];
  } catch (thrown) {
    throw new ConnectError(`serialize binary: ${textOf(thrown)}`, Code.Internal);
  }
}

/** A message of the type, made from its fields when it is none yet. */
export function normalise(desc: DescMessage, message: MessageInit): Message {
  return isMessage(message, desc) ? message : create(desc, message);
}

/** {@link normalise} for every message of a stream. */
export function normalised(desc: DescMessage, messages: AsyncIterable<MessageInit>): AsyncIterable<Message> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = messages[Symbol.asyncIterator]();
      return {
        async next() {
          const result = await iterator.next();
          return result.done === true ? result : { done: false, value: normalise(desc, result.value) };
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
