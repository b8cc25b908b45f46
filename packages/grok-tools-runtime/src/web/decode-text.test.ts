import { describe, expect, it } from "vitest";
import { decodeText, withoutDataUris } from "./decode-text.ts";

describe("decodeText", () => {
  const latin = Buffer.from([0x63, 0x61, 0x66, 0xe9]);
  it.each([
    ["the header", latin, "iso-8859-1", false, "café"],
    ["UTF-8 when nothing is said", Buffer.from("café"), undefined, true, "café"],
    ["UTF-8 for an unknown name", Buffer.from("café"), "klingon", true, "café"],
    ["a mark before the header", Buffer.from("\ufeffcafé"), "iso-8859-1", false, "café"],
    ["UTF-16 by its mark", Buffer.from("\ufeffok", "utf16le"), undefined, false, "ok"],
  ])("takes %s", (...[, body, charset, isHtml, text]) => {
    expect(decodeText(body, charset, isHtml)).toBe(text);
  });

  it.each([
    '<meta charset="windows-1252">',
    "<meta http-equiv=content-type content='text/html; charset=ISO-8859-1'>",
  ])("takes %s of an HTML page, and not of another text", (meta) => {
    const body = Buffer.concat([Buffer.from(meta), latin]);
    expect(decodeText(body, undefined, true)).toContain("café");
    expect(decodeText(body, undefined, false)).toContain("caf\ufffd");
  });

  it("does not believe that a page read as ASCII is UTF-16", () => {
    expect(decodeText(Buffer.from('<meta charset="utf-16">é'), undefined, true)).toContain("é");
  });
});

describe("withoutDataUris", () => {
  it("replaces content by its type", () => {
    expect(withoutDataUris("a data:image/png;base64,iVBORw0K== b")).toBe(
      "a [image/png, base64 content left out] b",
    );
    expect(withoutDataUris("data:;base64,AAAA")).toBe("[data, base64 content left out]");
    expect(withoutDataUris("data:text/plain;charset=utf-8;base64,AAAA)")).toBe(
      "[text/plain, base64 content left out])",
    );
  });

  it("keeps what is too short or no base64", () => {
    expect(withoutDataUris("data:image/png;base64,AAA")).toBe("data:image/png;base64,AAA");
    expect(withoutDataUris("data:text/plain,hello")).toBe("data:text/plain,hello");
  });

  it("is quick with texts made to slow it down", () => {
    const started = performance.now();
    withoutDataUris("data:".repeat(200_000));
    withoutDataUris(`data:a/b${";a".repeat(400_000)}`);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
