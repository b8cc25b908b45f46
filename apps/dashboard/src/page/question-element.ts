import type { QuestionEntry } from "./conversation.ts";
import { element } from "./element.ts";
import type { EntryElement } from "./entry-element.ts";

/** What a person answers: a decision, the chosen options, or null to cancel a choice. */
export type QuestionAnswer = "allow" | "always" | "deny" | readonly string[] | null;

/** Sends an answer; rejects when it could not be delivered. */
export type AnswerQuestion = (question: QuestionEntry, answer: QuestionAnswer) => Promise<void>;

/** A question with its buttons, until somebody has answered it. */
export function questionElement(entry: QuestionEntry, answer: AnswerQuestion): EntryElement {
  const outcome = element("p", { className: "outcome", tabIndex: -1 });
  const buttons = element("div", { className: "buttons", role: "group", ariaLabel: entry.title });
  let isAnsweredHere = false;
  const send = async (given: QuestionAnswer): Promise<void> => {
    isAnsweredHere = true;
    setDisabled(buttons, true);
    try {
      await answer(entry, given);
    } catch (error) {
      if (entry.outcome !== undefined) return;
      isAnsweredHere = false;
      outcome.textContent = error instanceof Error ? error.message : "the answer could not be sent";
      setDisabled(buttons, false);
    }
  };
  buttons.append(
    ...(entry.kind === "permission" ? permissionButtons(entry, send) : choiceButtons(entry, send)),
  );
  const origin = entry.origin === undefined ? "" : ` (agent ${entry.origin})`;
  const item = element("li", { className: "question" }, [
    element("p", {}, [element("strong", {}, [entry.title]), origin]),
    ...(entry.detail === undefined ? [] : [element("pre", {}, [entry.detail])]),
    buttons,
    outcome,
  ]);
  return {
    item,
    update() {
      if (entry.outcome === undefined) return;
      buttons.remove();
      outcome.textContent = entry.outcome;
      // The button that had the keyboard is gone: who goes on with Tab goes on from here.
      const isNowhere = document.activeElement === null || document.activeElement === document.body;
      if (isAnsweredHere && isNowhere) outcome.focus({ preventScroll: true });
    },
  };
}

type Send = (answer: QuestionAnswer) => Promise<void>;

function permissionButtons({ permissionKey }: QuestionEntry, send: Send): HTMLElement[] {
  const always =
    permissionKey === undefined ? [] : [button(`Always allow ${permissionKey}`, () => send("always"))];
  return [button("Allow", () => send("allow")), ...always, button("Deny", () => send("deny"))];
}

function choiceButtons({ options, isMultiple }: QuestionEntry, send: Send): HTMLElement[] {
  const cancel = button("Cancel", () => send(null));
  if (!isMultiple) return [...options.map((option) => button(option, () => send([option]))), cancel];
  const boxes = options.map((value) => element("input", { type: "checkbox", value }));
  const labels = boxes.map((box) => element("label", {}, [box, ` ${box.value}`]));
  const chosen = (): string[] => boxes.filter(({ checked }) => checked).map(({ value }) => value);
  return [...labels, button("Answer", () => send(chosen())), cancel];
}

function button(label: string, act: () => Promise<void>): HTMLButtonElement {
  const made = element("button", { type: "button", textContent: label });
  made.addEventListener("click", () => void act());
  return made;
}

function setDisabled(group: HTMLElement, isDisabled: boolean): void {
  for (const control of group.querySelectorAll<HTMLButtonElement | HTMLInputElement>("button, input")) {
    control.disabled = isDisabled;
  }
}
