import { toJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { toTimestamp } from "./wire-session.ts";

describe("the time of a stored message", () => {
  it.each([
    ["2026-02-01T10:00:00.120Z", "2026-02-01T10:00:00.120Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
    ["+010000-01-01T00:00:00Z", undefined],
    ["0000-12-31T23:59:59Z", undefined],
    ["soon", undefined],
    ["", undefined],
  ])("%s is %s", (text, expected) => {
    const time = toTimestamp(text);
    expect(time && toJson(TimestampSchema, time)).toBe(expected);
  });
});
