/** Longer texts are only compared for equality. */
const MAX_COMPARED_LENGTH = 1000;

/** Bounds the work of many comparisons, in steps of an edit distance. When it is used up, nothing is alike any more. */
export class ComparisonBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** False: too little is left. */
  spend(steps: number): boolean {
    if (steps > this.#left) return false;
    this.#left -= steps;
    return true;
  }
}

/** How alike two texts are, from 0 to 1: one minus the edit distance by the longer length. */
export function similarity(one: string, other: string, budget: ComparisonBudget): number {
  if (one === other) return 1;
  const longer = Math.max(one.length, other.length);
  const shorter = Math.min(one.length, other.length);
  if (shorter === 0 || longer > MAX_COMPARED_LENGTH || !budget.spend(longer * shorter)) return 0;
  return 1 - editDistance(one, other) / longer;
}

function editDistance(one: string, other: string): number {
  let previous = Uint16Array.from({ length: other.length + 1 }, (_, index) => index);
  let current = new Uint16Array(other.length + 1);
  for (let row = 1; row <= one.length; row += 1) {
    current[0] = row;
    for (let column = 1; column <= other.length; column += 1) {
      const change = (previous[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      current[column] = Math.min(change, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
    }
    [previous, current] = [current, previous];
  }
  return previous[other.length] ?? 0;
}
