import { TriviumError } from "@trivium/core";

/** Some gRPC stacks say RESOURCE_EXHAUSTED for a message that is too large; a started cell gets it for nothing else. */
export function toOversized(thrown: unknown): unknown {
  if (!TriviumError.isInstance(thrown) || thrown.kind !== "resourceExhausted") return thrown;
  return new TriviumError("outOfRange", thrown.message, { cause: thrown });
}
