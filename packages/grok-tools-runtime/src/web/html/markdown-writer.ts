import { isExcluded, isPlainBlock } from "./element-rules.ts";
import { closeSpan, type InlineSpan, imageText, spanOf } from "./inline-span.ts";
import { tableText } from "./table-text.ts";

type Attributes = Readonly<Record<string, string>>;

/** A finished piece of a text. */
interface Block {
  readonly text: string;
  readonly isList: boolean;
}

/** Something that holds blocks: the page, an item, a quotation, a cell. */
interface Container {
  readonly blocks: Block[];
  readonly lists: OpenList[];
}

interface OpenList {
  readonly items: string[];
  /** Number of the next item; undefined for a list of dots. */
  number: number | undefined;
}

/** Deeper ones are written without marks, since each level is written again by the level above. */
const MAX_CONTAINERS = 24;
const MAX_SPANS = 16;
/** Each addition copies the line, so the beginning of a longer one is laid aside. */
const MAX_LINE = 1024;
/** What is marked up ends there and begins again, so that its beginning can be laid aside too. */
const MAX_MARKED_LINE = 4096;
/** Deeper pages are not read on. Browsers stop at 512. */
const MAX_DEPTH = 2000;

/**
 * Writes Markdown while a page is read. Tags must be balanced, as an HTML parser makes them. The text is not escaped:
 * it is for reading, not for rendering.
 */
export class MarkdownWriter {
  readonly #base: URL;
  readonly #containers: Container[] = [newContainer()];
  /** What to do at the end of each open element. */
  readonly #closers: (() => void)[] = [];
  readonly #spans: InlineSpan[] = [];
  /** The beginning of a long paragraph. */
  #lineStart: string[] = [];
  #line = "";
  #heading = "";
  #skipped = 0;
  #preformatted: { text: string; language: string } | undefined;
  #rows: string[][] | undefined;

  /** Relative links are taken from `base`. */
  constructor(base: URL) {
    this.#base = base;
  }

  /** The page is nested too deeply; what follows is not worth reading. */
  get isTooDeep(): boolean {
    return this.#closers.length + this.#skipped > MAX_DEPTH;
  }

  open(name: string, attributes: Attributes): void {
    if (this.#skipped > 0 || isExcluded(name, attributes)) {
      this.#skipped += 1;
      return;
    }
    this.#closers.push(this.#begin(name, attributes));
  }

  close(): void {
    if (this.#skipped > 0) this.#skipped -= 1;
    else this.#closers.pop()?.();
  }

  text(text: string): void {
    if (this.#skipped > 0) return;
    if (this.#preformatted !== undefined) {
      this.#preformatted.text += text;
      return;
    }
    const collapsed = text.replace(/[ \t\r\n\f]+/g, " ");
    const isAtBlank = this.#line === "" || this.#line.endsWith(" ") || this.#line.endsWith("\n");
    this.#line += isAtBlank ? collapsed.trimStart() : collapsed;
    this.#layAside();
  }

  /** The whole text. Call it once, at the end. */
  finish(): string {
    while (this.#skipped > 0 || this.#closers.length > 0) this.close();
    this.#endParagraph();
    return joinBlocks(this.#container.blocks, false);
  }

  #begin(name: string, attributes: Attributes): () => void {
    if (this.#preformatted !== undefined) return this.#beginInPre(name, attributes);
    if (/^h[1-6]$/.test(name)) return this.#beginHeading(Number(name[1]));
    switch (name) {
      case "br":
        this.#line = `${this.#line.trimEnd()}\n`;
        this.#layAside();
        return nothing;
      case "hr":
        this.#addBlock("---");
        return nothing;
      case "img":
        this.#line += imageText(attributes, this.#base);
        this.#layAside();
        return nothing;
      case "pre":
        return this.#beginPre(attributes);
      case "ul":
      case "ol":
        return this.#beginList(name === "ol" ? startOf(attributes) : undefined);
      case "li":
        return this.#beginContainer((blocks) => this.#addItem(joinBlocks(blocks, true)));
      case "blockquote":
        return this.#beginContainer((blocks) =>
          this.#addBlock(prefixed(joinBlocks(blocks, false), "> ", "> ")),
        );
      case "table":
        return this.#beginTable();
      case "tr":
        this.#rows?.push([]);
        return this.#beginBlock();
      case "td":
      case "th":
        return this.#beginCell();
      default:
        return isPlainBlock(name) ? this.#beginBlock() : this.#beginSpan(name, attributes);
    }
  }

  #beginBlock(): () => void {
    this.#endParagraph();
    return () => this.#endParagraph();
  }

  #beginHeading(level: number): () => void {
    this.#endParagraph();
    this.#heading = `${"#".repeat(level)} `;
    return () => {
      this.#endParagraph();
      this.#heading = "";
    };
  }

  #beginSpan(name: string, attributes: Attributes): () => void {
    const span = spanOf(name, attributes, this.#base);
    const isOpen = span !== undefined && this.#spans.some(({ element }) => element === span.element);
    if (span === undefined || isOpen || this.#spans.length >= MAX_SPANS) return nothing;
    const opened: InlineSpan = { ...span, start: this.#line.length };
    this.#spans.push(opened);
    return () => {
      this.#line = closeSpan(this.#line, opened);
      this.#spans.splice(this.#spans.indexOf(opened), 1);
    };
  }

  #beginPre(attributes: Attributes): () => void {
    this.#endParagraph();
    this.#preformatted = { text: "", language: languageOf(attributes) };
    return () => {
      const { text, language } = this.#preformatted ?? { text: "", language: "" };
      this.#preformatted = undefined;
      const body = text.replace(/^\r?\n/, "").trimEnd();
      if (body === "") return;
      const fence = body.includes("```") ? "````" : "```";
      this.#addBlock(`${fence}${language}\n${body}\n${fence}`);
    };
  }

  #beginInPre(name: string, attributes: Attributes): () => void {
    const pre = this.#preformatted;
    if (pre !== undefined && name === "br") pre.text += "\n";
    if (pre !== undefined && pre.language === "") pre.language = languageOf(attributes);
    return nothing;
  }

  #beginList(number: number | undefined): () => void {
    this.#endParagraph();
    const owner = this.#container;
    const list: OpenList = { items: [], number };
    owner.lists.push(list);
    return () => {
      this.#endParagraph();
      owner.lists.pop();
      if (list.items.length === 0) return;
      const text = list.items.join("\n");
      // A list directly in a list is meant as part of the item before it.
      const outer = owner.lists.at(-1);
      if (outer === undefined) owner.blocks.push({ text, isList: true });
      else outer.items.push(prefixed(text, "  ", "  "));
    };
  }

  #addItem(text: string): void {
    const list = this.#container.lists.at(-1);
    const marker = list?.number === undefined ? "- " : `${list.number}. `;
    if (text === "") return;
    const item = prefixed(text, marker, " ".repeat(marker.length));
    if (list === undefined) {
      this.#container.blocks.push({ text: item, isList: true });
      return;
    }
    if (list.number !== undefined) list.number += 1;
    list.items.push(item);
  }

  #beginTable(): () => void {
    // A table in a table is layout: its cells are paragraphs.
    if (this.#rows !== undefined) return this.#beginBlock();
    this.#endParagraph();
    const rows: string[][] = [];
    this.#rows = rows;
    return () => {
      this.#endParagraph();
      this.#rows = undefined;
      const text = tableText(rows);
      if (text !== "") this.#addBlock(text);
    };
  }

  #beginCell(): () => void {
    const row = this.#rows?.at(-1);
    if (row === undefined) return this.#beginBlock();
    return this.#beginContainer((blocks) => {
      row.push(joinBlocks(blocks, false).replace(/\s+/g, " "));
    });
  }

  /** Collects the blocks up to the end of the element; too deep ones stay in the container around them. */
  #beginContainer(use: (blocks: readonly Block[]) => void): () => void {
    if (this.#containers.length > MAX_CONTAINERS) return this.#beginBlock();
    this.#endParagraph();
    this.#containers.push(newContainer());
    return () => {
      this.#endParagraph();
      const { blocks } = this.#containers.pop() ?? newContainer();
      use(blocks);
    };
  }

  get #container(): Container {
    return this.#containers.at(-1) ?? newContainer();
  }

  #addBlock(text: string): void {
    this.#endParagraph();
    this.#container.blocks.push({ text, isList: false });
  }

  /** Keeps the line short: of a long one only its end stays, which is not blank unless all of it is. */
  #layAside(): void {
    if (this.#line.length <= (this.#spans.length === 0 ? MAX_LINE : MAX_MARKED_LINE)) return;
    this.#closeSpans();
    const kept = Math.max(0, this.#line.trimEnd().length - 1);
    this.#lineStart.push(this.#line.slice(0, kept));
    this.#line = this.#line.slice(kept);
    for (const span of this.#spans) span.start = this.#line.length;
  }

  /** Marks the open spans up to here. */
  #closeSpans(): void {
    for (const span of this.#spans.toReversed()) this.#line = closeSpan(this.#line, span);
  }

  /** Ends the line. Spans go on in the next one. */
  #endParagraph(): void {
    this.#closeSpans();
    for (const span of this.#spans) span.start = 0;
    const text = [...this.#lineStart, this.#line].join("").trim();
    this.#lineStart = [];
    this.#line = "";
    if (text === "") return;
    const written = this.#heading === "" ? text : this.#heading + text.replace(/\s+/g, " ");
    this.#container.blocks.push({ text: written, isList: false });
  }
}

const nothing = (): void => {};

function newContainer(): Container {
  return { blocks: [], lists: [] };
}

/** Blocks with empty lines between them; in an item a list follows its text at once. */
function joinBlocks(blocks: readonly Block[], isItem: boolean): string {
  const pieces = blocks.flatMap(({ text, isList }, index) =>
    index === 0 ? [text] : [isItem && isList ? "\n" : "\n\n", text],
  );
  return pieces.join("");
}

function prefixed(text: string, first: string, rest: string): string {
  const lines = text.split("\n");
  return lines.map((line, index) => ((index === 0 ? first : rest) + line).trimEnd()).join("\n");
}

function startOf({ start }: Attributes): number {
  const number = Number(start ?? 1);
  return Number.isSafeInteger(number) ? number : 1;
}

function languageOf(attributes: Attributes): string {
  const name = attributes["class"]?.slice(0, 1000);
  return /(?:^|\s)(?:language|lang|highlight-source)-([\w+#-]{1,30})/.exec(name ?? "")?.[1] ?? "";
}
