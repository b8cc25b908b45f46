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

  constructor(list: HTMLElement, answer: AnswerQuestion) {
    this.#list = list;
    this.#answer = answer;
  }

  /** Shows an entry that is new or has changed. */
  show(entry: Entry): void {
    const { scrollingElement: page } = document;
    const isAtEnd = page !== null && page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_END_PX;
    let shown = this.#elements.get(entry);
    if (shown === undefined) {
      shown = entryElement(entry, this.#answer);
      this.#elements.set(entry, shown);
      this.#list.append(shown.item);
    }
    shown.update();
    if (isAtEnd) page.scrollTop = page.scrollHeight;
  }
}
