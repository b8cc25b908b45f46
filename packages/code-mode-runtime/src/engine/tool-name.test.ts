import { expect, it } from "vitest";
import { normaliseToolName } from "./tool-name.ts";

it.each([
  ["a-b", "a_b"],
  ["1abc", "_abc"],
  ["x.y/z", "x_y_z"],
  ["é1", "_1"],
  ["日本", "__"],
  ["🌍", "_"],
  ["-", "_"],
  ["$ok", "$ok"],
  ["", "_"],
])("the tool %j is the property %j", (name, expected) => {
  expect(normaliseToolName(name)).toBe(expected);
});
