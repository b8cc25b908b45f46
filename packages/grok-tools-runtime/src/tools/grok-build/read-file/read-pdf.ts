import { abortReason } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { readRange } from "../../../files/line-index.ts";
import type { OpenFile } from "../../../files/open-file.ts";
import type { PdfAnswer, PdfFormat } from "../../../pdf/pdf-job.ts";
import { PDF_TIMEOUT_MS, PdfRendererError, pdfReader } from "../../../pdf/pdf-reader.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { numberEveryLine } from "./number-lines.ts";
import { contentFailure, type ReadFailure } from "./read-failure.ts";

const MAX_PDF_BYTES = 50 * 1024 * 1024;

/** A PDF document to show. */
export interface PdfTarget {
  readonly file: OpenFile;
  /** Real path. */
  readonly path: string;
  readonly display: string;
  readonly pages: string | undefined;
  readonly format: string | undefined;
}

/** Shows pages of a PDF document as pictures, or their text. */
export async function readPdf(
  target: PdfTarget,
  context: ToolContext<unknown>,
): Promise<ToolResult | ReadFailure> {
  const { file, display, pages, format = "image" } = target;
  if (!isFormat(format)) {
    return contentFailure(`Error: the format ${format} is not known; use image or text.`);
  }
  if (file.sizeBytes > MAX_PDF_BYTES) {
    return contentFailure(
      `Error: ${display} has ${file.sizeBytes} bytes; PDF documents up to ${MAX_PDF_BYTES} bytes can be read.`,
      "too_large",
    );
  }
  const bytes = new Uint8Array(await readRange(file, 0, file.sizeBytes));
  const pagesName = context.parameterName("pages");
  try {
    const answer = await context
      .resource(pdfReader)
      .read({ bytes, pages, pagesName, format }, context.signal);
    return toResult(answer, target);
  } catch (thrown) {
    if (context.signal.aborted) throw abortReason(context.signal);
    return rendererFailure(thrown, display);
  }
}

function isFormat(format: string): format is PdfFormat {
  return format === "image" || format === "text";
}

function toResult(answer: PdfAnswer, target: PdfTarget): ToolResult | ReadFailure {
  const { display } = target;
  switch (answer.kind) {
    case "images":
      return imagesResult(answer, target.file.sizeBytes);
    case "text":
      return textResult(answer, target.path);
    case "bad-pages":
      return contentFailure(`Error: ${display}: ${answer.problem}.`);
    case "bad-document":
      return contentFailure(
        `Error: ${display} cannot be shown: ${answer.problem}.`,
        answer.isLocked ? "locked" : "corrupt",
      );
    case "too-much-text": {
      const text = `Error: these pages of ${display} have more text than can be returned (${answer.maxCharacters} characters); ask for fewer of them.`;
      return { ...contentFailure(text, "too_large"), variant: "FileTooLarge" };
    }
  }
}

function imagesResult(
  { pages, totalPages }: Extract<PdfAnswer, { kind: "images" }>,
  sizeBytes: number,
): ToolResult {
  const numbers = pages.map(({ pageNumber }) => pageNumber).join(", ");
  const count = pages.length === 1 ? "1 page" : `${pages.length} pages`;
  return {
    output: {
      type: "ReadFile",
      PdfPageImages: {
        pages: pages.map(({ data, pageNumber }) => ({
          data,
          mime_type: "image/jpeg",
          page_number: pageNumber,
        })),
        total_pages: totalPages,
        file_size: sizeBytes,
      },
    },
    promptText: `[PDF: ${count} shown (${numbers}) of ${totalPages}, ${(sizeBytes / 1024).toFixed(1)} KB]`,
    imageCount: pages.length,
  };
}

function textResult({ pages }: Extract<PdfAnswer, { kind: "text" }>, path: string): ToolResult {
  const raw = pages.map(({ pageNumber, text }) => `--- Page ${pageNumber} ---\n${text}`).join("\n");
  const lines = raw.split("\n");
  const content = numberEveryLine(lines);
  return {
    output: {
      type: "ReadFile",
      FileContent: { content, absolute_path: path, offset: null, raw_output: raw, total_lines: lines.length },
    },
    promptText: content,
  };
}

function rendererFailure(thrown: unknown, display: string): ReadFailure {
  if (thrown instanceof DOMException && thrown.name === "TimeoutError") {
    const text = `Error: ${display} was not shown within ${PDF_TIMEOUT_MS / 1000} s; ask for fewer pages, or for text.`;
    return { kind: "failure", variant: "FileReadError", code: ErrorCode.TIMEOUT, text };
  }
  if (!(thrown instanceof PdfRendererError)) throw thrown;
  return {
    kind: "failure",
    variant: "FileReadError",
    code: ErrorCode.EXECUTION_FAILED,
    text: `Error: ${display} cannot be shown: ${thrown.message}.`,
    suggestion: "extract the text with a command-line program such as pdftotext",
  };
}
