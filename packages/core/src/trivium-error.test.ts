import { describe, expect, it } from "vitest";
import { TriviumError } from "./trivium-error.ts";

describe("TriviumError.isInstance", () => {
  it("knows an error of another copy of this package by its brand", () => {
    const foreign = Object.defineProperty(new Error("x"), Symbol.for("trivium.error"), { value: true });
    expect(TriviumError.isInstance(foreign)).toBe(true);
  });

  it.each([new Error("x"), "x", null, { [Symbol.for("trivium.error")]: true }])("refuses %s", (value) => {
    expect(TriviumError.isInstance(value)).toBe(false);
  });

  it("keeps kind, message and cause", () => {
    const cause = new Error("below");
    const error = new TriviumError("notFound", "no session s1", { cause });
    expect(error).toMatchObject({ name: "TriviumError", kind: "notFound", message: "no session s1", cause });
  });
});
