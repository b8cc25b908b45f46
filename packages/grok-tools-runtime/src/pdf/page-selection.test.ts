import { describe, expect, it } from "vitest";
import { type PageSelection, selectPages } from "./page-selection.ts";

describe("selectPages", () => {
  it.each([
    { wish: "3", pages: [3] },
    { wish: "2-4", pages: [2, 3, 4] },
    { wish: "10-", pages: [10, 11, 12] },
    { wish: "11-99", pages: [11, 12] },
    { wish: " 5, 1-2 ,2,", pages: [1, 2, 5] },
  ])("takes $wish as $pages of 12", ({ wish, pages }) => {
    expect(select(wish, 12)).toEqual({ pages });
  });

  it.each([
    { wish: "x", problem: "x is not a page" },
    { wish: "1.5", problem: "1.5 is not a page" },
    { wish: "-3", problem: "-3 is not a page" },
    { wish: "0", problem: "page 0 does not exist" },
    { wish: "13", problem: "pages 1 to 12" },
    { wish: "4-2", problem: "4-2 goes backwards" },
    { wish: ",", problem: "selects nothing" },
  ])("refuses $wish", ({ wish, problem }) => {
    expect(select(wish, 12)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it("shows a short document whole, and wants pages of a longer one", () => {
    expect(select(undefined, 10)).toEqual({ pages: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] });
    expect(select(undefined, 11)).toEqual({
      problem: expect.stringMatching(/11 pages.*which ones with seiten.*20/),
    });
  });

  it("shows twenty pages, not more", () => {
    expect(select("1-20", 40)).toMatchObject({ pages: { length: 20 } });
    expect(select("1-21", 40)).toEqual({ problem: expect.stringContaining("at most 20") });
  });

  it("does not count the pages of a range that ends far beyond the document", () => {
    expect(select("1-999999999999", 3)).toEqual({ pages: [1, 2, 3] });
  });

  it("does not read a number without end as pages", () => {
    expect(select("9".repeat(400), 3)).toEqual({ problem: expect.stringContaining("does not exist") });
  });
});

function select(pages: string | undefined, totalPages: number): PageSelection {
  return selectPages({ pages, pagesName: "seiten" }, totalPages);
}
