import type { CellOutput } from "../engine/cell-engine.ts";
import { utf8Bytes } from "../wire-size.ts";
import type { OutputBuffer, TakenOutput } from "./output-buffer.ts";
import { DEFAULT_OUTPUT_TOKENS, fitTokenBudget } from "./token-budget.ts";
import { utf8Prefix, utf8Suffix } from "./utf8-cut.ts";

const HEAD_TEXT_BYTES = 512 * 1024;
const TAIL_TEXT_BYTES = 512 * 1024;
const MEDIA_BYTES = 8 * 1024 * 1024;
const MAX_ITEMS = 32_768;
const HEAD_ITEMS = MAX_ITEMS / 2;

interface Gap {
  textBytes: number;
  texts: number;
  images: number;
  audios: number;
}

/** A piece of text of the tail, which may still be dropped. */
interface TailText {
  text: string;
  bytes: number;
}

/** A stretch of output: what is missing at its beginning, then what is kept. */
interface Stretch {
  readonly gap: Gap;
  /** Texts of the head and media: never dropped again. */
  readonly fixed: CellOutput[];
  /** Texts of the tail. */
  readonly tail: TailText[];
}

/**
 * Keeps the head and the tail of the text, and the first media, of what a cell emits between two observations.
 *
 * Text fills the head, then the tail; the tail pushes its oldest text out. Wherever something is missing, the
 * output holds one text item that says how much. Notes count as items.
 */
export class RetainedOutput implements OutputBuffer {
  #stretches: Stretch[] = [newStretch()];
  /** The stretch that holds the oldest text of the tail; nothing before it can be dropped. */
  #oldest = 0;
  /** Stretches that have lost their content and are yet to be removed. */
  #emptied = 0;
  #items = 0;
  #headBytes = 0;
  #headItems = 0;
  #tailBytes = 0;
  #mediaBytes = 0;
  #hasGap = false;
  #isHead = true;

  add(item: CellOutput): void {
    if (item.type === "text") this.#addText(item.text);
    else this.#addMedia(item);
  }

  take(errorText: string | undefined): TakenOutput {
    if (errorText !== undefined) this.add({ type: "text", text: scriptErrorText(errorText) });
    const items = this.#render();
    this.#stretches = [newStretch()];
    this.#oldest = this.#emptied = 0;
    this.#items = this.#headBytes = this.#headItems = this.#tailBytes = this.#mediaBytes = 0;
    this.#hasGap = false;
    this.#isHead = true;
    return { items, isOverfull: false };
  }

  fit(items: readonly CellOutput[], maxOutputTokens: number | undefined): readonly CellOutput[] {
    return fitTokenBudget(items, maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS);
  }

  #addText(text: string): void {
    const bytes = utf8Bytes(text);
    const isHead = this.#isHead && this.#headItems < HEAD_ITEMS;
    const room = HEAD_TEXT_BYTES - this.#headBytes;
    if (isHead && bytes <= room) {
      this.#addHead(text, bytes);
      return;
    }
    // A text that crosses the border is cut there, and its rest is a text of the tail.
    const head = isHead && room > 0 ? utf8Prefix(text, room) : "";
    if (head === "") {
      this.#addTail(text, bytes);
      return;
    }
    const headBytes = utf8Bytes(head);
    this.#addHead(head, headBytes);
    this.#addTail(text.slice(head.length), bytes - headBytes);
  }

  #addHead(text: string, bytes: number): void {
    this.#last().fixed.push({ type: "text", text });
    this.#items++;
    this.#headItems++;
    this.#headBytes += bytes;
  }

  #addTail(text: string, bytes: number): void {
    this.#isHead = false;
    this.#last().tail.push({ text, bytes });
    this.#items++;
    this.#tailBytes += bytes;
    while (this.#tailBytes > TAIL_TEXT_BYTES) this.#dropTail(this.#tailBytes - TAIL_TEXT_BYTES);
    this.#keepItemLimit();
  }

  #addMedia(item: Exclude<CellOutput, { type: "text" }>): void {
    const bytes = utf8Bytes(item.url);
    const isFull = this.#items + (this.#hasGap ? 1 : 0) >= MAX_ITEMS && this.#oldestTail() === undefined;
    if (isFull || this.#mediaBytes + bytes > MEDIA_BYTES) {
      this.#dropMedia(item);
      return;
    }
    this.#mediaBytes += bytes;
    // Media stay where they are between texts of the tail, so they begin a stretch of their own.
    if (this.#last().tail.length > 0) this.#stretches.push(newStretch());
    this.#last().fixed.push(item);
    this.#items++;
    this.#keepItemLimit();
  }

  #dropMedia(item: Exclude<CellOutput, { type: "text" }>): void {
    const { fixed, tail } = this.#last();
    if (fixed.length > 0 || tail.length > 0) this.#stretches.push(newStretch());
    const { gap } = this.#last();
    if (item.type === "image") gap.images++;
    else gap.audios++;
    this.#hasGap = true;
  }

  /** Drops `excessBytes` of the oldest text of the tail, or the whole of it when it has no more than that. */
  #dropTail(excessBytes: number): void {
    const stretch = this.#oldestTail();
    const first = stretch?.tail[0];
    if (stretch === undefined || first === undefined) return;
    this.#hasGap = true;
    if (first.bytes <= excessBytes) {
      stretch.tail.shift();
      this.#items--;
      this.#tailBytes -= first.bytes;
      stretch.gap.textBytes += first.bytes;
      stretch.gap.texts++;
      this.#dropIfEmpty(stretch);
      return;
    }
    const kept = utf8Suffix(first.text, first.bytes - excessBytes);
    const keptBytes = utf8Bytes(kept);
    stretch.gap.textBytes += first.bytes - keptBytes;
    this.#tailBytes -= first.bytes - keptBytes;
    stretch.tail[0] = { text: kept, bytes: keptBytes };
  }

  /** A stretch without content is no stretch: what is missing there is missing before the next one. */
  #dropIfEmpty({ gap, fixed, tail }: Stretch): void {
    const next = this.#stretches[this.#oldest + 1];
    if (next === undefined || fixed.length + tail.length > 0) return;
    addGap(next.gap, gap);
    Object.assign(gap, newGap());
    this.#oldest++;
    this.#emptied++;
    if (this.#emptied > 64 && this.#emptied > this.#stretches.length / 2) this.#removeEmpty();
  }

  /** Not one by one, which would take as long as there are stretches each time. */
  #removeEmpty(): void {
    const oldest = this.#stretches[this.#oldest];
    this.#stretches = this.#stretches.filter(
      (stretch) =>
        stretch === oldest || stretch.fixed.length + stretch.tail.length > 0 || !isEmpty(stretch.gap),
    );
    this.#oldest = oldest === undefined ? 0 : this.#stretches.indexOf(oldest);
    this.#emptied = 0;
  }

  #keepItemLimit(): void {
    while (this.#items + (this.#hasGap ? 1 : 0) > MAX_ITEMS) {
      const stretch = this.#oldestTail();
      if (stretch === undefined) return;
      this.#dropTail(Number.POSITIVE_INFINITY);
    }
  }

  /** The gap of a stretch lies before its texts, so media of the stretch must not come between them. */
  #oldestTail(): Stretch | undefined {
    while (this.#oldest < this.#stretches.length) {
      const stretch = this.#stretches[this.#oldest];
      if (stretch !== undefined && stretch.tail.length > 0) return this.#separateTail(stretch);
      this.#oldest++;
    }
    this.#oldest = Math.max(0, this.#stretches.length - 1);
    return undefined;
  }

  #separateTail(stretch: Stretch): Stretch {
    if (stretch.fixed.length === 0) return stretch;
    const separated: Stretch = { gap: newGap(), fixed: [], tail: stretch.tail };
    const before: Stretch = { gap: stretch.gap, fixed: stretch.fixed, tail: [] };
    this.#stretches.splice(this.#oldest, 1, before, separated);
    this.#oldest++;
    return separated;
  }

  #last(): Stretch {
    const last = this.#stretches.at(-1);
    if (last !== undefined) return last;
    const stretch = newStretch();
    this.#stretches.push(stretch);
    return stretch;
  }

  #render(): CellOutput[] {
    const items: CellOutput[] = [];
    let gap = newGap();
    for (const stretch of this.#stretches) {
      addGap(gap, stretch.gap);
      if (stretch.fixed.length + stretch.tail.length === 0) continue;
      if (!isEmpty(gap)) items.push({ type: "text", text: gapNote(gap) });
      gap = newGap();
      for (const item of stretch.fixed) items.push(item);
      for (const { text } of stretch.tail) items.push({ type: "text", text });
    }
    if (!isEmpty(gap)) items.push({ type: "text", text: gapNote(gap) });
    return items;
  }
}

/** The item that a failed program adds to its output in bounded sessions. */
export function scriptErrorText(errorText: string): string {
  return `Script error:\n${errorText}`;
}

function newStretch(): Stretch {
  return { gap: newGap(), fixed: [], tail: [] };
}

function newGap(): Gap {
  return { textBytes: 0, texts: 0, images: 0, audios: 0 };
}

function addGap(sum: Gap, more: Gap): void {
  sum.textBytes += more.textBytes;
  sum.texts += more.texts;
  sum.images += more.images;
  sum.audios += more.audios;
}

function isEmpty({ textBytes, texts, images, audios }: Gap): boolean {
  return textBytes + texts + images + audios === 0;
}

function gapNote({ textBytes, texts, images, audios }: Gap): string {
  return (
    `[Code Mode session output limit reached: omitted ${textBytes} text bytes; ` +
    `discarded ${texts} text segments, ${images} images, ${audios} audio items]`
  );
}
