/** What the renderer is asked for. */
export interface PdfJob {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Pages in words, for example `1-3,7`; undefined: all of a short document. */
  readonly pages: string | undefined;
  /** What the model knows this wish as. */
  readonly pagesName: string;
  readonly format: PdfFormat;
}

/** Pictures of the pages, or the text on them. */
export type PdfFormat = "image" | "text";

/** The picture of one page. */
export interface PdfPageImage {
  /** A JPEG in base64. */
  readonly data: string;
  readonly pageNumber: number;
}

/** What the renderer has answered. */
export type PdfAnswer =
  | { readonly kind: "images"; readonly pages: readonly PdfPageImage[]; readonly totalPages: number }
  | { readonly kind: "text"; readonly pages: readonly PdfPageText[]; readonly totalPages: number }
  /** The wish for pages cannot be granted. */
  | { readonly kind: "bad-pages"; readonly problem: string }
  /** The document is at fault. */
  | { readonly kind: "bad-document"; readonly problem: string; readonly isLocked: boolean }
  /** The pages have more text than can be shown. */
  | { readonly kind: "too-much-text"; readonly maxCharacters: number };

/** The text of one page. */
export interface PdfPageText {
  readonly text: string;
  readonly pageNumber: number;
}
