import { Code, ConnectError } from "@connectrpc/connect";
import { type ErrorKind, TriviumError } from "@trivium/core";
import { codeOfKind } from "./code-of-kind.ts";

const kindOfCode: ReadonlyMap<Code, ErrorKind> = new Map(
  // Object.entries widens the keys; the table above is checked to hold exactly the kinds.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.entries(codeOfKind).map(([kind, code]) => [code, kind as ErrorKind]),
);

/**
 * What a client throws for anything a transport throws: a {@link TriviumError} whose `cause` is the original
 * `ConnectError`, with its metadata and details. `unknown` becomes `internal`.
 */
export function fromConnectError(thrown: unknown): TriviumError {
  if (TriviumError.isInstance(thrown)) return thrown;
  const error = ConnectError.from(thrown);
  const kind = error.code === Code.Unknown ? "internal" : (kindOfCode.get(error.code) ?? "internal");
  return new TriviumError(kind, error.rawMessage, { cause: error });
}
