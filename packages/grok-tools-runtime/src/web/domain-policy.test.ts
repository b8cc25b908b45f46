import { describe, expect, it } from "vitest";
import { documentationSites } from "./documentation-sites.ts";
import { isBelowDomain, isListed } from "./domain-policy.ts";

describe("isListed", () => {
  it.each([
    ["https://example.com/any", ["example.com"], true],
    ["https://www.example.com/", ["EXAMPLE.com/"], true],
    ["https://example.com./x", ["www.example.com"], true],
    ["https://sub.example.com/", ["example.com"], false],
    ["https://badexample.com/", ["example.com"], false],
    ["https://example.com/docs", ["example.com/docs"], true],
    ["https://example.com/Docs/a", ["example.com/docs/"], true],
    ["https://example.com/docs2", ["example.com/docs"], false],
    ["https://example.com/docs/../x", ["example.com/docs"], false],
    ["https://example.com/docs/%2e%2e/x", ["example.com/docs"], false],
    ["https://example.com/docs/..%2fx", ["example.com/docs"], false],
    ["https://example.com/docs/..%252fx", ["example.com/docs"], false],
    ["https://example.com/", [], false],
    ["https://example.com/", ["*"], true],
    ["https://example.com/", ["https://example.com"], true],
    ["https://bücher.example/", ["bücher.example"], true],
    ["https://bücher.example/", ["BÜCHER.example/a"], false],
  ])("%s under %j: %s", (url, entries, expected) => {
    expect(isListed(new URL(url), entries)).toBe(expected);
  });

  it("has about ninety sites of its own, each a usable entry", () => {
    expect(documentationSites.length).toBeGreaterThan(80);
    expect(new Set(documentationSites).size).toBe(documentationSites.length);
    for (const site of documentationSites)
      expect(isListed(new URL(`https://${site}/x`), documentationSites)).toBe(true);
  });
});

describe("isBelowDomain", () => {
  it.each([
    ["a.io", ["a.io"], true],
    ["docs.a.io", ["a.io"], true],
    ["ba.io", ["a.io"], false],
    ["a.io", [""], false],
    ["xn--bcher-kva.example", ["bücher.example"], true],
    ["www.xn--bcher-kva.example", ["Bücher.example."], true],
  ])("%s under %j: %s", (host, domains, expected) => {
    expect(isBelowDomain(host, domains)).toBe(expected);
  });
});
