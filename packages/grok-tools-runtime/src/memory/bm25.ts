/** A text with the numbers of its words, ready to be ranked. */
export interface IndexedText<Item> {
  readonly item: Item;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** A found item. */
export interface Ranked<Item> {
  readonly item: Item;
  /** 0 to 1; 1 would be a text that consists of the words alone. */
  readonly score: number;
}

/** The usual constants: how soon repetitions stop to count, and how much long texts lose. */
const K1 = 1.2;
const B = 0.75;

/** Counts the words of a text. */
export function indexText<Item>(item: Item, text: string): IndexedText<Item> {
  const words = wordsOf(text);
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { item, counts, length: words.length };
}

/** The texts that have a word of the query, best first, by BM25; equal ones in the order they were given. */
export function rank<Item>(texts: readonly IndexedText<Item>[], query: string): Ranked<Item>[] {
  const weights = [...new Set(wordsOf(query))].map((word) => ({ word, weight: weightOf(word, texts) }));
  const best = weights.reduce((sum, { weight }) => sum + weight * (K1 + 1), 0);
  if (best === 0) return [];
  const averageLength = texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
  return texts
    .map(({ item, counts, length }) => {
      const damping = K1 * (1 - B + (B * length) / averageLength);
      const score = weights.reduce((sum, { word, weight }) => {
        const count = counts.get(word) ?? 0;
        return sum + (weight * count * (K1 + 1)) / (count + damping);
      }, 0);
      return { item, score: score / best };
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
}

/** Rare words weigh more. A word that no text has weighs most, so that texts which miss it score lower. */
function weightOf<Item>(word: string, texts: readonly IndexedText<Item>[]): number {
  const holders = texts.filter(({ counts }) => counts.has(word)).length;
  return Math.log(1 + (texts.length - holders + 0.5) / (holders + 0.5));
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? []
  );
}
