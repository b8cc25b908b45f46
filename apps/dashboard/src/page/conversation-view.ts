import type { Entry } from "./conversation.ts";
import { type EntryElement, entryElement } from "./entry-element.ts";
import type { AnswerQuestion } from "./question-element.ts";

/** How near to its end a page counts as read to the end. */
const NEAR_END_PX = 80;

/** The list of entries on the page. It follows the newest one while a reader is at the end. */
export class ConversationView {
  readonly #list: HTMLElement;
  readonly #answer: AnswerQuestion;
  readonly #elements = new Map<Entry, EntryElement>();
  /** Shown otherwise than they are now, until the next frame. */
  readonly #changed = new Set<EntryElement>();

  constructor(list: HTMLElement, answer: AnswerQuestion) {
    this.#list = list;
    this.#answer = answer;
  }

  /** Shows an entry that is new at once, and one that has changed with the next frame. */
  show(entry: Entry): void {
    const shown = this.#elements.get(entry);
    if (shown === undefined) return this.#append(entry);
    // A long text grows in thousands of pieces, each of which would lay out all of it.
    if (this.#changed.size === 0) requestAnimationFrame(() => this.#update());
    this.#changed.add(shown);
  }

  #append(entry: Entry): void {
    const made = entryElement(entry, this.#answer);
    this.#elements.set(entry, made);
    keepingEnd(() => {
      this.#list.append(made.item);
      made.update();
    });
  }

  #update(): void {
    keepingEnd(() => {
      for (const shown of this.#changed) shown.update();
    });
    this.#changed.clear();
  }
}

/** Changes the page; who was at its end still is. */
function keepingEnd(change: () => void): void {
  const { scrollingElement: page } = document;
  const isAtEnd = page !== null && page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_END_PX;
  change();
  if (isAtEnd) page.scrollTop = page.scrollHeight;
}
