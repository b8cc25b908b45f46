import { systemClock } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { decode } from "jpeg-js";
import { describe, expect, it } from "vitest";
import { imageSizeOf } from "../tools/grok-build/read-file/image-header.ts";
import type { PdfAnswer, PdfFormat } from "./pdf-job.ts";
import { PDF_TIMEOUT_MS, PdfReader } from "./pdf-reader.ts";
import { samplePdf } from "./testing/sample-pdf.ts";

describe("PdfReader", () => {
  it("draws pages at 150 dots per inch", async () => {
    const black = { drawing: "0 0 100 100 re f" };
    const answer = await read(samplePdf([{ lines: ["one"] }, black, {}]), { pages: "2,3" });
    expect(answer).toMatchObject({
      kind: "images",
      totalPages: 3,
      pages: [{ pageNumber: 2 }, { pageNumber: 3 }],
    });
    const [half, empty] = picturesOf(answer);
    expect(half).toMatchObject({ width: 417, height: 208 });
    // Black on the left, white on the right.
    expect([redAt(half, 50), redAt(half, 350)]).toEqual([0, 255]);
    expect(redAt(empty, 50)).toBe(255);
  });

  it("keeps colours apart", async () => {
    const answer = await read(samplePdf([{ drawing: "1 0 0 rg 0 0 200 100 re f" }]));
    const [picture] = picturesOf(answer);
    expect(redAt(picture, 50)).toBeGreaterThan(240);
    expect(picture?.data[(100 * 417 + 50) * 4 + 2]).toBeLessThan(20);
  });

  it("draws a page of giant paper smaller", async () => {
    const answer = await read(samplePdf([{ width: 14_000, height: 7000 }]));
    const [data] = answer.kind === "images" ? answer.pages.map((page) => page.data) : [];
    const size = imageSizeOf(Buffer.from(data ?? "", "base64"), "image/jpeg");
    expect(size).toEqual({ width: 4243, height: 2121 });
  });

  it("reads the text of pages", async () => {
    const document = samplePdf([{ lines: ["Hello", "world"] }, {}, { lines: ["end"] }]);
    expect(await read(document, { format: "text" })).toEqual({
      kind: "text",
      totalPages: 3,
      pages: [
        { pageNumber: 1, text: "Hello\nworld" },
        { pageNumber: 2, text: "" },
        { pageNumber: 3, text: "end" },
      ],
    });
  });

  it("does not return text without end", async () => {
    const long = { lines: Array.from({ length: 1200 }, () => "x".repeat(100)), width: 2000, height: 20_000 };
    expect(await read(samplePdf([long]), { format: "text" })).toMatchObject({ kind: "too-much-text" });
  });

  it("says what is wrong with the pages asked for", async () => {
    expect(await read(samplePdf([{}]), { pages: "2" })).toMatchObject({ kind: "bad-pages" });
  });

  it("says that a document is damaged or locked", async () => {
    expect(await read(Buffer.from("%PDF-1.4\n"))).toMatchObject({ kind: "bad-document", isLocked: false });
    const key = `<${"00".repeat(32)}>`;
    const lock = `/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ${key} /U ${key} >> /ID [<00> <00>]`;
    expect(await read(samplePdf([{}], lock))).toMatchObject({ kind: "bad-document", isLocked: true });
  });

  it("ends the renderer when the time is over, and can go on", async () => {
    const clock = new ManualClock();
    const reader = new PdfReader(clock);
    const reading = read(endless(), { reader });
    const waiting = read(samplePdf([{ lines: ["next"] }]), { reader, format: "text" });
    const refused = expect(reading).rejects.toMatchObject({ name: "TimeoutError" });
    await Promise.resolve().then(() => Promise.resolve());
    await clock.advance(PDF_TIMEOUT_MS);
    await refused;
    expect(await waiting).toMatchObject({ pages: [{ text: "next" }] });
  });

  it("ends the renderer when the call is cancelled", async () => {
    const cancel = new AbortController();
    const reader = new PdfReader(systemClock);
    const reading = read(endless(), { reader, signal: cancel.signal });
    const waiting = read(samplePdf([{}]), { reader, signal: cancel.signal });
    cancel.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    await expect(waiting).rejects.toThrow("enough");
  });
});

interface ReadOptions {
  readonly pages?: string;
  readonly format?: PdfFormat;
  readonly reader?: PdfReader;
  readonly signal?: AbortSignal;
}

async function read(document: Buffer, options: ReadOptions = {}): Promise<PdfAnswer> {
  const { reader = new PdfReader(systemClock), signal = new AbortController().signal } = options;
  const { pages, format = "image" } = options;
  return await reader.read({ bytes: new Uint8Array(document), pages, pagesName: "pages", format }, signal);
}

/** A page that takes minutes to draw. */
function endless(): Buffer {
  return samplePdf([{ drawing: "0 0 200 100 re f ".repeat(400_000), width: 2000, height: 2000 }]);
}

type Picture = ReturnType<typeof decode>;

function picturesOf(answer: PdfAnswer): Picture[] {
  if (answer.kind !== "images") throw new Error(`no pictures but ${answer.kind}`);
  return answer.pages.map(({ data }) => decode(Buffer.from(data, "base64")));
}

/** Of the pixel in the middle row. */
function redAt(picture: Picture | undefined, x: number): number | undefined {
  return picture?.data[(Math.floor(picture.height / 2) * picture.width + x) * 4];
}
