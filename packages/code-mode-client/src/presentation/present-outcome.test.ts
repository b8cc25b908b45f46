import { describe, expect, it } from "vitest";
import type { CellItem, CellOutcome } from "../outcome.ts";
import { fitOutput } from "./fit-output.ts";
import { presentOutcome } from "./present-outcome.ts";

const text = (value: string): CellItem => ({ type: "text", text: value });
const outcome = (rest: Partial<CellOutcome>): CellOutcome => ({
  cellId: "7",
  state: "completed",
  items: [text("out")],
  ...rest,
});

describe("an outcome for a model", () => {
  it.each([
    [{ state: "yielded" }, "Script running with cell ID 7", true],
    [{ state: "terminated" }, "Script terminated", true],
    [{}, "Script completed", true],
    [{ errorText: "" }, "Script failed", false],
  ] as const)("%j begins with its status", (rest, status, isSuccess) => {
    expect(presentOutcome(outcome(rest), { wallTimeMs: 1260 })).toEqual({
      items: [text(`${status}\nWall time 1.3 seconds\nOutput:\n`), text("out")],
      isSuccess,
    });
  });

  it("tells the error and cuts the output where the host has not", () => {
    const failed = outcome({ items: [text("a".repeat(100))], errorText: "Error: x" });
    const { items } = presentOutcome(failed, { wallTimeMs: 0, outputTruncation: "off", maxOutputTokens: 10 });
    expect(items[1]).toEqual(
      text(
        `Warning: truncated output (original token count: 31)\nTotal output lines: 3\n\n${"a".repeat(20)}…21 tokens truncated…ript error:\nError: x`,
      ),
    );
    const short = presentOutcome(outcome({ errorText: "E" }), { wallTimeMs: 0, outputTruncation: "off" });
    expect(short.items.slice(1)).toEqual([text("out"), text("Script error:\nE")]);
  });

  it("gives images a detail", () => {
    const url = "data:image/png;base64,AA";
    const items: CellItem[] = [
      { type: "image", url },
      { type: "image", url, detail: "low" },
    ];
    expect(presentOutcome(outcome({ items }), { wallTimeMs: 0 }).items.slice(1)).toMatchObject([
      { detail: "high" },
      { detail: "low" },
    ]);
  });
});

describe("output cut to a budget", () => {
  const warning = (tokens: number, lines: number) =>
    `Warning: truncated output (original token count: ${tokens})\nTotal output lines: ${lines}\n\n`;
  it.each([
    [["0123456789".repeat(4)], 5, [`${warning(10, 1)}0123456789…5 tokens truncated…0123456789`]],
    [["01234567890123456789"], 5, ["01234567890123456789"]],
    [["012345678901234567890"], 5, [`${warning(6, 1)}0123456789…1 tokens truncated…1234567890`]],
    [["abcdef", "g"], 0, [`${warning(2, 2)}…2 tokens truncated…`]],
    [["", "abcdefgh\n", ""], 1, [`${warning(3, 2)}ab…2 tokens truncated…\n\n`]],
    [["éééé"], 1, [`${warning(2, 1)}é…1 tokens truncated…é`]],
    [["😀😀"], 1, [`${warning(2, 1)}…1 tokens truncated…`]],
    [[], 0, []],
  ])("%j with %i tokens", (texts, maxTokens, expected) => {
    expect(fitOutput(texts.map(text), maxTokens)).toEqual(expected.map(text));
  });

  it("keeps images, and charges sound by its length", () => {
    const image: CellItem = { type: "image", url: "data:image/png;base64,AAAA" };
    const wave = (seconds: number): CellItem => ({ type: "audio", url: waveUrl(seconds) });
    expect(fitOutput([image, wave(1), text("12345678"), wave(1), text("x"), text("y")], 12)).toEqual([
      image,
      wave(1),
      text("12345678"),
      text("[omitted 2 text items ...]"),
      text("[omitted 1 audio items ...]"),
    ]);
    expect(fitOutput([image, text("a".repeat(40))], 5)).toEqual([
      image,
      text(`${"a".repeat(10)}…5 tokens truncated…${"a".repeat(10)}`),
    ]);
    const other: CellItem = { type: "audio", url: "data:audio/mp3;base64,AAAA" };
    expect(fitOutput([other], 6)).toEqual([text("[omitted 1 audio items ...]")]);
    expect(fitOutput([other], 7)).toEqual([other]);
  });
});

/** A WAVE file of 8 bytes a second. */
function waveUrl(seconds: number): string {
  const bytes = new Uint8Array(44 + 8 * seconds);
  const view = new DataView(bytes.buffer);
  for (const [at, name] of [
    [0, "RIFF"],
    [8, "WAVE"],
    [12, "fmt "],
    [36, "data"],
  ] as const) {
    for (const [index, character] of Array.from(name).entries()) bytes[at + index] = character.charCodeAt(0);
  }
  view.setUint32(16, 16, true);
  view.setUint32(28, 8, true);
  view.setUint32(40, 8 * seconds, true);
  return `data:audio/wav;base64,${btoa(String.fromCharCode(...bytes))}`;
}
