import { encode } from "jpeg-js";
import type { Pdfium } from "./load-pdfium.ts";

/** Of the pictures. PDF measures pages in points. */
const DOTS_PER_POINT = 150 / 72;
const JPEG_QUALITY = 85;
/** Larger pages are shown smaller; an A2 page is not. */
const MAX_PAGE_PIXELS = 9_000_000;
const WHITE = 0xffffffff;
/** FPDFBitmap_BGRx. */
const FORMAT_BGRX = 3;
/** FPDF_ANNOT (show annotations) and FPDF_REVERSE_BYTE_ORDER (RGBx, what the encoder reads). */
const RENDER_FLAGS = 0x01 | 0x10;
/** FPDF_ERR_PASSWORD. */
const ERROR_PASSWORD = 4;

/** The document is broken, or locked by a password. */
export class PdfDocumentError extends Error {
  override readonly name: string = "PdfDocumentError";
  readonly isLocked: boolean;

  constructor(message: string, isLocked = false) {
    super(message);
    this.isLocked = isLocked;
  }
}

/** An open document. */
export class PdfDocument implements Disposable {
  readonly totalPages: number;
  readonly #pdfium: Pdfium;
  readonly #bytes: number;
  readonly #document: number;

  /** @throws {@link PdfDocumentError} when it cannot be opened. */
  constructor(pdfium: Pdfium, bytes: Uint8Array) {
    const { library } = pdfium;
    this.#pdfium = pdfium;
    this.#bytes = allocate(pdfium, bytes.length);
    pdfium.memory().set(bytes, this.#bytes);
    this.#document = library.FPDF_LoadMemDocument(this.#bytes, bytes.length, "");
    if (this.#document === 0) {
      const isLocked = library.FPDF_GetLastError() === ERROR_PASSWORD;
      library.pdfium.wasmExports.free(this.#bytes);
      throw new PdfDocumentError(isLocked ? "it is protected by a password" : "it is damaged", isLocked);
    }
    this.totalPages = library.FPDF_GetPageCount(this.#document);
  }

  [Symbol.dispose](): void {
    const { library } = this.#pdfium;
    library.FPDF_CloseDocument(this.#document);
    library.pdfium.wasmExports.free(this.#bytes);
  }

  /** The picture of a page as a JPEG. Pages count from 1. */
  render(pageNumber: number): Buffer {
    const { library } = this.#pdfium;
    using page = this.#open(pageNumber);
    const { width, height } = pixelSize(
      library.FPDF_GetPageWidthF(page.handle),
      library.FPDF_GetPageHeightF(page.handle),
    );
    const buffer = allocate(this.#pdfium, width * height * 4);
    const bitmap = library.FPDFBitmap_CreateEx(width, height, FORMAT_BGRX, buffer, width * 4);
    try {
      if (bitmap === 0) throw new PdfDocumentError(`page ${pageNumber} cannot be drawn`);
      library.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE);
      library.FPDF_RenderPageBitmap(bitmap, page.handle, 0, 0, width, height, 0, RENDER_FLAGS);
      const data = this.#pdfium.memory().subarray(buffer, buffer + width * height * 4);
      return encode({ data, width, height }, JPEG_QUALITY).data;
    } finally {
      if (bitmap !== 0) library.FPDFBitmap_Destroy(bitmap);
      library.pdfium.wasmExports.free(buffer);
    }
  }

  /** The text of a page, lines ended by line feeds; undefined when it is longer than `maxCharacters`. */
  text(pageNumber: number, maxCharacters: number): string | undefined {
    const { library } = this.#pdfium;
    using page = this.#open(pageNumber);
    const text = library.FPDFText_LoadPage(page.handle);
    if (text === 0) throw new PdfDocumentError(`the text of page ${pageNumber} cannot be read`);
    try {
      const count = Math.max(0, library.FPDFText_CountChars(text));
      if (count > maxCharacters) return undefined;
      // UTF-16 units; a character may take two, and a zero ends them.
      const bytes = (count * 2 + 1) * 2;
      const buffer = allocate(this.#pdfium, bytes);
      try {
        const units = library.FPDFText_GetText(text, 0, count, buffer);
        const end = buffer + Math.max(0, units - 1) * 2;
        return plainLines(new TextDecoder("utf-16le").decode(this.#pdfium.memory().subarray(buffer, end)));
      } finally {
        library.pdfium.wasmExports.free(buffer);
      }
    } finally {
      library.FPDFText_ClosePage(text);
    }
  }

  #open(pageNumber: number): Disposable & { readonly handle: number } {
    const { library } = this.#pdfium;
    const handle = library.FPDF_LoadPage(this.#document, pageNumber - 1);
    if (handle === 0) throw new PdfDocumentError(`page ${pageNumber} is damaged`);
    return { handle, [Symbol.dispose]: () => library.FPDF_ClosePage(handle) };
  }
}

function allocate({ library }: Pdfium, bytes: number): number {
  const address = library.pdfium.wasmExports.malloc(Math.max(1, bytes)) >>> 0;
  if (address === 0) throw new PdfDocumentError(`it needs more memory than a document may take`);
  return address;
}

function pixelSize(widthPoints: number, heightPoints: number): { width: number; height: number } {
  const area = widthPoints * heightPoints * DOTS_PER_POINT ** 2;
  const scale = DOTS_PER_POINT * Math.min(1, Math.sqrt(MAX_PAGE_PIXELS / area));
  const pixels = (points: number): number =>
    Math.min(MAX_JPEG_SIDE_PIXELS, Math.max(1, Math.round(points * scale)));
  return { width: pixels(widthPoints), height: pixels(heightPoints) };
}

/** The format has no larger numbers. */
const MAX_JPEG_SIDE_PIXELS = 65_535;

/** The library marks a hyphen at the end of a line by U+0002 or U+FFFE. */
function plainLines(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll("\u0002", "-")
    .replaceAll("\ufffe", "-")
    .replaceAll("\0", "")
    .trimEnd();
}
