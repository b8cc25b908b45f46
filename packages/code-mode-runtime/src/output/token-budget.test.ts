import { describe, expect, it } from "vitest";
import type { CellOutput } from "../engine/cell-engine.ts";
import { fitTokenBudget } from "./token-budget.ts";

const text = (value: string): CellOutput => ({ type: "text", text: value });
const header = (tokens: number, lines: number) =>
  `Warning: truncated output (original token count: ${tokens})\nTotal output lines: ${lines}\n\n`;

function fit(items: (string | CellOutput)[], tokens: number): string[] {
  const wrapped = items.map((item) => (typeof item === "string" ? text(item) : item));
  return fitTokenBudget(wrapped, tokens).map((item) => (item.type === "text" ? item.text : item.url));
}

describe("a budget of tokens", () => {
  it.each([
    ["20 bytes fit in 5", ["a".repeat(20)], 5, ["a".repeat(20)]],
    ["nothing fits in 0", [], 0, []],
    [
      "one byte too many is cut",
      ["a".repeat(21)],
      5,
      [`${header(6, 1)}aaaaaaaaaa…1 tokens truncated…aaaaaaaaaa`],
    ],
    ["0 keeps the note alone", ["abcdef", "g"], 0, [`${header(2, 2)}…2 tokens truncated…`]],
    [
      "leading empty items add no newline",
      ["", "a".repeat(100), ""],
      25,
      [`${header(26, 1)}${"a".repeat(50)}…1 tokens truncated…${"a".repeat(49)}\n`],
    ],
    ["characters stay whole", ["é".repeat(40)], 5, [`${header(20, 1)}ééééé…15 tokens truncated…ééééé`]],
    ["emoji stay whole", ["🌍".repeat(20)], 5, [`${header(20, 1)}🌍🌍…15 tokens truncated…🌍🌍`]],
  ])("%s", (...[, items, tokens, expected]) => {
    expect(fit(items, tokens)).toEqual(expected);
  });

  it("with media keeps images, cuts the text that crosses the budget and counts what is left out", () => {
    const image: CellOutput = { type: "image", url: "data:image", detail: "high" };
    const audio: CellOutput = { type: "audio", url: "data:audio/wav;base64,AAAA" };
    expect(fit(["a".repeat(60), image, "b".repeat(60), audio], 5)).toEqual([
      "aaaaaaaaaa…10 tokens truncated…aaaaaaaaaa",
      "data:image",
      "[omitted 1 text items ...]",
      "[omitted 1 audio items ...]",
    ]);
  });

  it("charges sound by its length when the file says it", () => {
    const wave = Buffer.alloc(44 + 1600);
    wave.write("RIFF", 0, "latin1");
    wave.write("WAVEfmt ", 8, "latin1");
    wave.writeUInt32LE(16, 16);
    wave.writeUInt32LE(1600, 28);
    wave.write("data", 36, "latin1");
    wave.writeUInt32LE(1600, 40);
    const sound: CellOutput = { type: "audio", url: `data:audio/wav;base64,${wave.toString("base64")}` };
    expect(fit([sound], 10)).toEqual([sound.url]);
    expect(fit([sound], 9)).toEqual(["[omitted 1 audio items ...]"]);
  });
});
