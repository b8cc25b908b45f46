import { describe, expect, it } from "vitest";
import { randomIds } from "./ids.ts";

describe("randomIds", () => {
  it("makes UUIDs of version 4 and 7 and hexadecimal text", () => {
    expect(randomIds.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(randomIds.timeOrderedUuid()).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(randomIds.hex(3)).toMatch(/^[0-9a-f]{6}$/);
  });

  it("puts the time first in a time-ordered UUID", () => {
    const before = Date.now();
    const milliseconds = Number.parseInt(randomIds.timeOrderedUuid().replace("-", "").slice(0, 12), 16);
    expect(milliseconds).toBeGreaterThanOrEqual(before);
    expect(milliseconds).toBeLessThanOrEqual(Date.now());
  });
});
