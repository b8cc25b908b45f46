import { expect, it } from "vitest";
import { toPropertyName } from "./property-name.ts";

it.each([
  ["a-b", "a_b"],
  ["1abc", "_abc"],
  ["a1", "a1"],
  ["x.y/z", "x_y_z"],
  ["é1", "_1"],
  ["日本", "__"],
  ["😀x", "_x"],
  ["-", "_"],
  ["$ok", "$ok"],
  ["", "_"],
])("%j is the property %s", (name, property) => {
  expect(toPropertyName(name)).toBe(property);
});
