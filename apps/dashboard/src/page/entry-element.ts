import type { CallEntry, Entry, NoteEntry, TextEntry } from "./conversation.ts";
import { element } from "./element.ts";
import { type AnswerQuestion, questionElement } from "./question-element.ts";

/** An entry on the page. */
export interface EntryElement {
  readonly item: HTMLLIElement;
  /** Shows the entry as it is now. */
  update(): void;
}

/** Makes the element of an entry. All text is set as text, never as markup. */
export function entryElement(entry: Entry, answer: AnswerQuestion): EntryElement {
  switch (entry.kind) {
    case "permission":
    case "choice":
      return questionElement(entry, answer);
    case "call":
      return callElement(entry);
    case "note":
      return noteElement(entry);
    case "user":
    case "answer":
      return textElement(entry);
    case "thinking":
    case "agent":
      return foldedElement(entry);
  }
}

function textElement(entry: TextEntry): EntryElement {
  const item = element("li", { className: `text ${entry.kind}` });
  return { item, update: () => void (item.textContent = entry.text) };
}

function foldedElement(entry: TextEntry): EntryElement {
  const text = element("pre");
  const title = entry.kind === "thinking" ? "Thinking" : `Agent ${entry.origin ?? ""}`;
  const details = element("details", { open: entry.kind === "agent" }, [
    element("summary", {}, [title]),
    text,
  ]);
  return {
    item: element("li", { className: entry.kind }, [details]),
    update: () => void (text.textContent = entry.text),
  };
}

function noteElement(entry: NoteEntry): EntryElement {
  const item = element("li", { className: "note" }, [entry.text]);
  if (entry.isBad) item.dataset["tone"] = "bad";
  return { item, update: () => {} };
}

function callElement(entry: CallEntry): EntryElement {
  const input = element("pre", {}, [JSON.stringify(entry.input, null, 2)]);
  const result = element("pre", { hidden: true });
  const origin = element(
    "span",
    { className: "origin" },
    entry.origin === undefined ? [] : [` (${entry.origin})`],
  );
  const state = element("span");
  const summary = element("summary", {}, [element("code", {}, [entry.toolName]), origin, state]);
  const details = element("details", { className: "call" }, [summary, input, result]);
  return {
    item: element("li", {}, [details]),
    update() {
      const isOver = entry.result !== undefined;
      state.textContent = isOver ? (entry.isError === true ? " failed" : " done") : " running";
      details.classList.toggle("failed", entry.isError === true);
      result.hidden = !isOver;
      result.textContent = entry.result ?? "";
    },
  };
}
