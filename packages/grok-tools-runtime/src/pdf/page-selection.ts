/** Most pages of one answer. */
export const MAX_PAGES = 20;
/** Documents up to this length are shown whole when no pages are named. */
const MAX_PAGES_UNASKED = 10;

/** Page numbers in ascending order, or what is wrong with the wish. */
export type PageSelection = { readonly pages: readonly number[] } | { readonly problem: string };

/** A wish for pages, and what it is called. */
export interface PageWish {
  readonly pages: string | undefined;
  readonly pagesName: string;
}

/**
 * Reads a wish such as `1-3,7,9-` for a document of `totalPages`. Pages count from 1, ranges include both ends, an
 * open range goes to the last page, and an end beyond that is moved to it.
 */
export function selectPages({ pages: wish, pagesName }: PageWish, totalPages: number): PageSelection {
  if (wish === undefined || wish.trim() === "") {
    if (totalPages <= MAX_PAGES_UNASKED) return { pages: range(1, totalPages) };
    return {
      problem: `the document has ${totalPages} pages; say which ones with ${pagesName}, at most ${MAX_PAGES} in one call`,
    };
  }
  const selected = new Set<number>();
  for (const part of wish.split(",").map((text) => text.trim())) {
    if (part === "") continue;
    const found = parseRange(part, totalPages);
    if ("problem" in found) return found;
    for (const page of range(found.first, found.last)) selected.add(page);
  }
  if (selected.size === 0)
    return { problem: `${pagesName} is ${wish}, which selects nothing; try 1-5 or 2,4` };
  if (selected.size > MAX_PAGES) {
    return {
      problem: `${pagesName} ${wish} is ${selected.size} pages; at most ${MAX_PAGES} are shown in one call`,
    };
  }
  return { pages: [...selected].sort((one, other) => one - other) };
}

function parseRange(
  part: string,
  totalPages: number,
): { readonly first: number; readonly last: number } | { readonly problem: string } {
  const [, from, dash, to] = /^(\d+)\s*(-?)\s*(\d*)$/.exec(part) ?? [];
  if (from === undefined || (dash === "" && to !== "")) {
    return {
      problem: `${part} is not a page; give numbers such as 3, ranges such as 2-5, or 4- for the rest`,
    };
  }
  const first = Number(from);
  const end = dash === "" ? first : to === "" ? totalPages : Number(to);
  if (first < 1 || first > totalPages) {
    return { problem: `page ${from} does not exist; the document has pages 1 to ${totalPages}` };
  }
  if (first > end) return { problem: `the range ${part} goes backwards` };
  return { first, last: Math.min(end, totalPages) };
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
