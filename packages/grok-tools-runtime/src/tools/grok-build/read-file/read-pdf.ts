import { ErrorCode } from "@trivium/proto/grok-tools";
import type { OpenFile } from "../../../files/open-file.ts";
import { ToolError } from "../../../tool-error.ts";
import { contentFailure, type ReadFailure } from "./read-failure.ts";

const MAX_PDF_BYTES = 50 * 1024 * 1024;

/** A PDF document to show. */
export interface PdfTarget {
  readonly file: OpenFile;
  readonly display: string;
  readonly pages: string | undefined;
  readonly format: string | undefined;
}

/**
 * Checks a request for a PDF document. No renderer is part of this build, so a valid request is NOT_IMPLEMENTED.
 *
 * @throws {@link ToolError} NOT_IMPLEMENTED.
 */
export function readPdf({ file, display, format = "image" }: PdfTarget): ReadFailure {
  if (format !== "image" && format !== "text") {
    return contentFailure(`Error: the format ${format} is not known; use image or text.`);
  }
  if (file.sizeBytes > MAX_PDF_BYTES) {
    return contentFailure(
      `Error: ${display} has ${file.sizeBytes} bytes; PDF documents up to ${MAX_PDF_BYTES} bytes can be read.`,
      "too_large",
    );
  }
  throw new ToolError(
    ErrorCode.NOT_IMPLEMENTED,
    `${display} is a PDF document, which this server cannot read`,
    {
      details: { unavailable: "pdf_renderer", tool_id: "GrokBuild:read_file" },
      suggestion: "extract the text with a command-line program such as pdftotext",
    },
  );
}
