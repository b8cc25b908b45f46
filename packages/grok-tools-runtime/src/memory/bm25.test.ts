import { describe, expect, it } from "vitest";
import { indexText, rank } from "./bm25.ts";

const texts = [
  indexText("cats", "Cats sleep. Cats purr all day long."),
  indexText("dogs", "Dogs bark at cats."),
  indexText("fish", "Fish swim."),
];

describe("rank", () => {
  it("puts the text with more of the word first, and leaves out those without it", () => {
    expect(rank(texts, "CATS").map(({ item }) => item)).toEqual(["cats", "dogs"]);
  });

  it("scores from 0 to 1, and lower for a text that misses a word of the query", () => {
    const [alone] = rank(texts, "fish");
    const [missing] = rank(texts, "fish whales");
    expect(alone?.score).toBeGreaterThan(0.3);
    expect(alone?.score).toBeLessThanOrEqual(1);
    expect(missing?.score).toBeLessThan(alone?.score ?? 0);
  });

  it("gives a useful score even when every text has the word", () => {
    expect(rank([indexText("only", "zebra")], "zebra")[0]?.score).toBeGreaterThan(0.3);
  });

  it("finds nothing for a query without words, and nothing among no texts", () => {
    expect(rank(texts, "?!")).toEqual([]);
    expect(rank([], "cats")).toEqual([]);
  });
});
