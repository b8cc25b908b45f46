import { describe, expect, it } from "vitest";
import { htmlToMarkdown } from "./html-to-markdown.ts";

const base = new URL("https://docs.example.org/guide/page");
const convert = (html: string): Promise<string> =>
  htmlToMarkdown(html, { base, signal: new AbortController().signal });

describe("htmlToMarkdown", () => {
  it.each([
    [
      "headings and paragraphs",
      "<h1>One\n two</h1><p>a <b>bold</b> word<p>next",
      "# One two\n\na **bold** word\n\nnext",
    ],
    ["blanks outside of marks", "<p>a<b> b </b>c<em></em>", "a **b** c"],
    ["links", '<a href="../x?y=(1)">there</a>', "[there](https://docs.example.org/x?y=%281%29)"],
    ["links to nowhere", '<a href="#top">up</a> <a href="javascript:x()">run</a>', "up run"],
    [
      "a link around blocks",
      '<a href="/c"><h3>T</h3><p>D</p></a>',
      "### [T](https://docs.example.org/c)\n\n[D](https://docs.example.org/c)",
    ],
    [
      "pictures",
      '<img src="/i.png" alt="A  b"><img alt="only text"><img src="data:image/png;base64,AAAA" alt="d">',
      "![A b](https://docs.example.org/i.png)only textd",
    ],
    ["lists", "<ul><li>a<li>b<ol start=3><li>c</li><li>d</ol></ul>", "- a\n- b\n  3. c\n  4. d"],
    ["a list directly in a list", "<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b"],
    ["paragraphs of an item", "<ul><li><p>a</p><p>b</p></li></ul>", "- a\n\n  b"],
    ["quotations", "<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"],
    [
      "code",
      "<p>run <code>a`b</code></p><pre><code class='language-ts'>\nlet  x;\n  y &lt; 1\n</code></pre>",
      "run ``a`b``\n\n```ts\nlet  x;\n  y < 1\n```",
    ],
    ["a fence in code", "<pre>```</pre>", "````\n```\n````"],
    ["line breaks", "a <br> b", "a\nb"],
    ["rules", "a<hr>b", "a\n\n---\n\nb"],
    [
      "tables",
      "<table><tr><th>a</th><th>b</th></tr><tr><td>1|2<td><p>x</p><p>y</p></tr><tr><td>z</table>",
      "| a | b |\n| --- | --- |\n| 1\\|2 | x y |\n| z |",
    ],
    ["a table for layout", "<table><tr><td>a</td></tr><tr><td>b</td></tr></table>", "a\n\nb"],
    ["entities", "<p>&lt;a&gt; &amp; &eacute;&#x2014;</p>", "<a> & é—"],
    ["unclosed and stray tags", "<div><p>a</b></div></p></section>b", "a\n\nb"],
  ])("writes %s", async (_what, html, markdown) => {
    expect(await convert(html)).toBe(markdown);
  });

  it.each(["nav", "header", "footer", "script", "style", "noscript", "svg", "iframe", "object"])(
    "leaves %s out",
    async (element) => {
      expect(await convert(`<body><${element}>gone</${element}><p>kept</p>`)).toBe("kept");
    },
  );

  it.each([
    ["cookie-banner", false],
    ["cookieconsent", false],
    ["sidebar", false],
    ["leftSidebar", false],
    ["page__sidebar", false],
    ["ad-slot", false],
    ["google-ads-box", false],
    ["advertisement", false],
    ["read-more", true],
    ["badge", true],
    ["has-sidebar", true],
    ["thread-list", true],
    ["loading-ad", true],
  ])("looks at whole words of class and id: %s", async (name, isKept) => {
    expect(await convert(`<div class="x ${name}">a</div>`)).toBe(isKept ? "a" : "");
    expect(await convert(`<div id="${name}">a</div>`)).toBe(isKept ? "a" : "");
  });

  it("never leaves out the root", async () => {
    expect(await convert('<html class="cookie-page"><body id="sidebar"><p>kept')).toBe("kept");
  });

  it("stops at the signal", async () => {
    const controller = new AbortController();
    const converted = htmlToMarkdown("<p>x".repeat(1_000_000), { base, signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(converted).rejects.toThrow("enough");
  });

  it.each([
    ["short lines", "ab<br>", "ab\n"],
    ["entities", "a &amp; ", "a & "],
    ["pictures", '<img alt="p"> x ', "p x "],
    ["marks", "<b>a b</b> c ", "**a b** c "],
  ])("writes a paragraph of many %s as a short one", async (_what, html, markdown) => {
    expect(await convert(`<p>${html.repeat(2000)}`)).toBe(markdown.repeat(2000).trim());
  });

  it("marks up a long text in parts", async () => {
    const marked = (await convert(`<p>x <b>${"word &amp; ".repeat(3000)}</b>y`)).split("**");
    expect(marked.length).toBeGreaterThan(3);
    expect(marked.length % 2).toBe(1);
    expect(marked.join("")).toBe(`x ${"word & ".repeat(3000)}y`);
  });

  it.each([
    ["lines without an end", "ab<br>".repeat(100_000)],
    ["marks without an end of the paragraph", "<b>ab</b> ".repeat(100_000)],
    ["entities", "&amp; ".repeat(100_000)],
    ["marked entities", `<b>${"&amp; ".repeat(100_000)}`],
    ["nested quotations", "<blockquote>".repeat(200_000)],
    ["nested lists", "<ul><li>x".repeat(200_000)],
    ["nested marks", "<b><i><a href=/x>y".repeat(100_000)],
    ["stray ends", "<div>".repeat(100_000) + "</span>".repeat(100_000)],
    ["an endless tag", `<p ${"a ".repeat(500_000)}`],
    ["many cells", `<table><tr>${"<td>a".repeat(50_000)}${"<tr><td>b".repeat(50_000)}`],
    ["backticks", `<code>${"` ".repeat(300_000)}</code>`],
  ])("is quick with %s", async (_what, html) => {
    const started = performance.now();
    await convert(html);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
