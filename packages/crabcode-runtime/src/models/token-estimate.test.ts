import { expect, it } from "vitest";
import { estimateTokens } from "./token-estimate.ts";

it.each([
  ["a", 400, 100],
  ["你", 100, 150],
  ["a", 0, 0],
  ["a", 1, 1],
  ["é", 8, 7],
])("%s, %i times, is estimated by length and bytes", (text, count, tokens) => {
  expect(estimateTokens(text.repeat(count))).toBe(tokens);
});
