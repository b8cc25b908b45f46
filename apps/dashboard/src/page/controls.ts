import { pageElement } from "./element.ts";

/** The parts of the page that a person works with. */
interface Controls {
  /** Whether the page is connected, in a word. */
  readonly connection: HTMLElement;
  /** What the model is doing. */
  readonly activity: HTMLElement;
  readonly entries: HTMLOListElement;
  readonly mode: HTMLSelectElement;
  readonly model: HTMLSelectElement;
  readonly signIn: HTMLFormElement;
  readonly token: HTMLInputElement;
  readonly composer: HTMLFormElement;
  readonly message: HTMLTextAreaElement;
  readonly send: HTMLButtonElement;
  readonly stop: HTMLButtonElement;
}

/** @throws Error when script and page do not belong together */
export const controls: Controls = {
  connection: pageElement("connection", HTMLElement),
  activity: pageElement("activity", HTMLElement),
  entries: pageElement("entries", HTMLOListElement),
  mode: pageElement("mode", HTMLSelectElement),
  model: pageElement("model", HTMLSelectElement),
  signIn: pageElement("sign-in", HTMLFormElement),
  token: pageElement("token", HTMLInputElement),
  composer: pageElement("composer", HTMLFormElement),
  message: pageElement("message", HTMLTextAreaElement),
  send: pageElement("send", HTMLButtonElement),
  stop: pageElement("stop", HTMLButtonElement),
};
