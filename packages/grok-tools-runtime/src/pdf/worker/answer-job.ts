import { selectPages } from "../page-selection.ts";
import type { PdfAnswer, PdfJob, PdfPageText } from "../pdf-job.ts";
import type { Pdfium } from "./load-pdfium.ts";
import { PdfDocument, PdfDocumentError } from "./pdf-document.ts";

/** More is too much for the reader of the answer. */
const MAX_TEXT_CHARACTERS = 100_000;

/** Opens the document and shows the pages that were asked for. */
export function answerJob(pdfium: Pdfium, { bytes, format, ...wish }: PdfJob): PdfAnswer {
  try {
    using document = new PdfDocument(pdfium, bytes);
    const { totalPages } = document;
    if (totalPages < 1) throw new PdfDocumentError("it has no pages");
    const selection = selectPages(wish, totalPages);
    if ("problem" in selection) return { kind: "bad-pages", problem: selection.problem };
    if (format === "text") return textOf(document, selection.pages);
    const pages = selection.pages.map((pageNumber) => ({
      data: document.render(pageNumber).toString("base64"),
      pageNumber,
    }));
    return { kind: "images", pages, totalPages };
  } catch (thrown) {
    if (!(thrown instanceof PdfDocumentError)) throw thrown;
    return { kind: "bad-document", problem: thrown.message, isLocked: thrown.isLocked };
  }
}

function textOf(document: PdfDocument, pageNumbers: readonly number[]): PdfAnswer {
  const pages: PdfPageText[] = [];
  let leftCharacters = MAX_TEXT_CHARACTERS;
  for (const pageNumber of pageNumbers) {
    const text = document.text(pageNumber, leftCharacters);
    if (text === undefined) return { kind: "too-much-text", maxCharacters: MAX_TEXT_CHARACTERS };
    leftCharacters -= text.length;
    pages.push({ text, pageNumber });
  }
  return { kind: "text", pages, totalPages: document.totalPages };
}
