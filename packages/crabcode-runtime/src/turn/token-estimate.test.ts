import { expect, it } from "vitest";
import { estimateTokens } from "./token-estimate.ts";

it.each([
  ["a", 400, 100],
  ["你", 100, 150],
  ["a", 0, 0],
  ["a", 1, 1],
  ["é", 8, 7],
])("estimates %s times %i as %i tokens", (text, count, tokens) => {
  expect(estimateTokens(text.repeat(count))).toBe(tokens);
});
