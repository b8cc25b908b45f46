import { expect, it } from "vitest";
import { settingsSection } from "./settings-section.ts";

const settings = { "a.b.c": 1, a: { b: { d: 2 }, "e.f": 3 }, list: [1] };

it.each([
  ["a.b.c", 1],
  ["a.b", { c: 1, d: 2 }],
  ["a.e.f", 3],
  ["list", [1]],
  ["a.b.c.x", null],
  ["constructor", null],
  [undefined, { a: { b: { c: 1, d: 2 }, e: { f: 3 } }, list: [1] }],
])("the section %s", (section, value) => {
  expect(settingsSection(settings, section)).toEqual(value);
});

it("of no settings is null", () => {
  expect(settingsSection(undefined, "a")).toBeNull();
});
