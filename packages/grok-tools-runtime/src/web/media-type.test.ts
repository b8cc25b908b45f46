import { describe, expect, it } from "vitest";
import { mediaExtensionOf, pageKindOf, parseMediaType, sniffPage, textExtensionOf } from "./media-type.ts";

describe("parseMediaType", () => {
  it.each([
    ['Text/HTML; Charset="UTF-8"', { essence: "text/html", charset: "UTF-8" }],
    ["text/plain;a=b; charset=latin1", { essence: "text/plain", charset: "latin1" }],
    [undefined, { essence: "", charset: undefined }],
  ])("reads %s", (header, expected) => {
    expect(parseMediaType(header)).toEqual(expected);
  });
});

describe("pageKindOf", () => {
  it.each([
    ["text/html", "html"],
    ["application/xhtml+xml", "html"],
    ["text/markdown", "text"],
    ["application/json", "text"],
    ["application/vnd.api+json", "text"],
    ["image/svg+xml", "text"],
    ["application/pdf", "pdf"],
    ["image/png", "image"],
    ["video/mp4", "video"],
    ["application/zip", "unsupported"],
    ["audio/mpeg", "unsupported"],
  ])("%s is %s", (essence, kind) => {
    expect(pageKindOf(essence)).toBe(kind);
  });
});

describe("sniffPage", () => {
  it.each([
    [" <!DOCTYPE html>", "text/html"],
    ["%PDF-1.7", "application/pdf"],
    ["hello", "text/plain"],
    ["a\0b", "application/octet-stream"],
  ])("takes %j for %s", (text, essence) => {
    expect(sniffPage(Buffer.from(text)).essence).toBe(essence);
  });
});

describe("textExtensionOf", () => {
  it.each([
    ["markdown", "md"],
    ["application/json", "json"],
    ["application/ld+json", "json"],
    ["application/x-ndjson", "jsonl"],
    ["text/css", "txt"],
  ])("%s is kept as %s", (essence, extension) => {
    expect(textExtensionOf(essence)).toBe(extension);
  });
});

describe("mediaExtensionOf", () => {
  it.each([
    ["image/png", "\x89PNG\r\n\x1a\n", "png"],
    ["image/jpg", "\xff\xd8\xff\xe0", "jpg"],
    ["image/gif", "GIF89a", "gif"],
    ["image/webp", "RIFF\0\0\0\0WEBP", "webp"],
    ["video/mp4", "\0\0\0\x18ftypisom", "mp4"],
    ["video/webm", "\x1aE\xdf\xa3", "webm"],
    ["image/png", "<html>", undefined],
    ["video/mp4", "MP4", undefined],
    ["image/x-icon", "any", "icon"],
    ["image/../../x", "any", "bin"],
  ])("%s with %j: %s", (essence, head, extension) => {
    expect(mediaExtensionOf(essence, Buffer.from(head, "latin1"))).toBe(extension);
  });
});
