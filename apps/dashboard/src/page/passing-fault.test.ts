import { TriviumError } from "@trivium/core";
import { describe, expect, it } from "vitest";
import { isPassingFault } from "./passing-fault.ts";

describe("a fault that passes", () => {
  it.each(["unavailable", "internal", "aborted", "cancelled", "deadlineExceeded"] as const)(
    "is one of kind %s",
    (kind) => {
      expect(isPassingFault(new TriviumError(kind, "Failed to fetch"))).toBe(true);
    },
  );

  it.each([
    new TriviumError("unauthenticated", "no token"),
    new TriviumError("notFound", "no session has that id"),
    new TriviumError("invalidInput", "the id is no id"),
    new TypeError("the page is broken"),
    undefined,
  ])("is not %s", (error) => {
    expect(isPassingFault(error)).toBe(false);
  });
});
