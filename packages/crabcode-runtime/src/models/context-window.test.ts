import { expect, it } from "vitest";
import { contextWindowOf } from "./context-window.ts";

it.each([
  ["claude-sonnet-4-6", 200_000],
  ["gpt-4", 8_192],
  ["gpt-4-0613", 8_192],
  ["gpt-4.1-mini", 1_047_576],
  ["gpt-4o-mini", 128_000],
  ["gpt-4x", 200_000],
  ["openai/gpt-4o", 128_000],
  ["qwen3:32b", 40_960],
  ["gemini-1.5-pro-002", 2_097_152],
  ["gemini-3-flash", 1_048_576],
  ["never-heard-of", 200_000],
])("%s has a window of %i tokens", (model, tokens) => {
  expect(contextWindowOf(model)).toBe(tokens);
});
