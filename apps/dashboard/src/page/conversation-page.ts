import { type CrabcodeClient, crabcodeErrorReason } from "@trivium/crabcode-client";
import { controls } from "./controls.ts";
import { Conversation, type QuestionEntry } from "./conversation.ts";
import { ConversationView } from "./conversation-view.ts";
import { element } from "./element.ts";
import { showHistory } from "./history.ts";
import type { QuestionAnswer } from "./question-element.ts";

/** Where a page begins to follow a session. */
interface PageStart {
  readonly sessionId: string;
  /** Everything up to this event is in the history. */
  readonly after: string;
  /** The history may end in the middle of a turn. */
  readonly isBusy: boolean;
}

/** One conversation on the page: its controls drive the session, its events fill the list. */
export class ConversationPage {
  readonly #client: CrabcodeClient;
  readonly #start: PageStart;
  readonly #conversation: Conversation;
  /** The turn that ends next began with a message of this page. */
  #isOwnTurn = false;
  /** Name of the model in use. */
  #model = "";

  private constructor(client: CrabcodeClient, start: PageStart) {
    this.#client = client;
    this.#start = start;
    // What has the keyboard is about to go.
    if (controls.entries.contains(document.activeElement)) controls.message.focus({ preventScroll: true });
    controls.entries.replaceChildren();
    const view = new ConversationView(controls.entries, (question, answer) => this.#answer(question, answer));
    this.#conversation = new Conversation((entry) => view.show(entry));
  }

  /**
   * Shows what a session holds so far.
   *
   * @param wanted id of the session; "" is the server's default session
   * @throws TriviumError when the server refuses or cannot be reached
   */
  static async open(client: CrabcodeClient, wanted: string): Promise<ConversationPage> {
    // Loads the session, and makes the default one when the server has none yet.
    const { models, current } = await client.listModels({ sessionId: wanted });
    const { sessionId, epoch, headSeq, state } = await client.sessions.get(wanted);
    const page = new ConversationPage(client, {
      sessionId,
      after: `${epoch}:${headSeq}`,
      isBusy: state === "busy",
    });
    await showHistory(client, { sessionId, conversation: page.#conversation });
    const names = models.map(({ name }) => element("option", { value: name, textContent: name }));
    controls.model.replaceChildren(...names);
    if (current !== undefined) page.#showModel(current);
    return page;
  }

  /**
   * Follows the session. Resolves with `closed` when the session was, with `reopen` when a turn has ended whose
   * beginning this page has not seen: it was under way already, or somebody else's message began it.
   *
   * @throws TriviumError when the server refuses or cannot be reached
   */
  async follow(): Promise<"closed" | "reopen"> {
    const { sessionId, after, isBusy } = this.#start;
    using _listening = this.#listen();
    for await (const event of this.#client.subscribe({ sessionId, afterSeq: after })) {
      this.#conversation.apply(event);
      if (event.type === "server.connected") this.#showConnected();
      if (event.type === "model_change") this.#showModel(event.model_profile);
      this.#showState();
      if (event.type !== "turn_complete") continue;
      if (isBusy || !this.#isOwnTurn) return "reopen";
      this.#isOwnTurn = false;
    }
    return "closed";
  }

  #listen(): Disposable {
    const listening = new AbortController();
    const { signal } = listening;
    controls.composer.addEventListener("submit", (event) => this.#submit(event), { signal });
    controls.message.addEventListener("keydown", (event) => this.#submitOnEnter(event), { signal });
    controls.stop.addEventListener("click", () => this.#try(() => this.#interrupt()), { signal });
    controls.mode.addEventListener("change", () => this.#try(() => this.#switchMode()), { signal });
    controls.model.addEventListener("change", () => this.#try(() => this.#switchModel()), { signal });
    controls.send.disabled = false;
    return {
      [Symbol.dispose]() {
        listening.abort();
        // Nobody would take what is sent now.
        controls.send.disabled = true;
        controls.stop.disabled = true;
      },
    };
  }

  #submitOnEnter(event: KeyboardEvent): void {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    controls.composer.requestSubmit();
  }

  #submit(event: SubmitEvent): void {
    event.preventDefault();
    const text = controls.message.value;
    if (text.trim() === "") return;
    controls.message.value = "";
    this.#conversation.say(text);
    this.#isOwnTurn = true;
    this.#showState();
    this.#try(() => this.#send(text));
  }

  /** The events come through the subscription; the turn's own stream is left once the message is in. */
  async #send(text: string): Promise<void> {
    const turn = this.#client.send(text, { sessionId: this.#start.sessionId, isDetached: true });
    try {
      for await (const _event of turn) return;
    } catch (error) {
      this.#isOwnTurn = false;
      throw error;
    }
  }

  async #interrupt(): Promise<void> {
    await this.#client.sessions.interruptTurn({ sessionId: this.#start.sessionId });
  }

  async #switchMode(): Promise<void> {
    const { value } = controls.mode;
    if (value === "agent" || value === "plan") await this.#client.switchMode(value, this.#start);
  }

  async #switchModel(): Promise<void> {
    try {
      await this.#client.switchModel(controls.model.value, this.#start);
    } catch (error) {
      this.#showModel(this.#model);
      throw error;
    }
  }

  #showModel(name: string): void {
    this.#model = name;
    controls.model.value = name;
  }

  async #answer(question: QuestionEntry, answer: QuestionAnswer): Promise<void> {
    const { toolUseId, agentId } = question;
    const { sessionId } = this.#start;
    const address = { sessionId, toolUseId, ...(agentId !== undefined && { agentId }) };
    if (typeof answer === "string") await this.#client.respondPermission(address, answer);
    else await this.#client.respondChoice(address, answer);
  }

  /** What fails becomes a line of the conversation. */
  #try(act: () => Promise<void>): void {
    act().catch((error: unknown) => {
      const reason = crabcodeErrorReason(error);
      const message = error instanceof Error ? error.message : "the server could not be reached";
      this.#conversation.activity = "";
      this.#conversation.note(reason === undefined ? message : `${message} (${reason})`, true);
      this.#showState();
    });
  }

  #showConnected(): void {
    controls.connection.dataset["state"] = "connected";
    controls.connection.textContent = `connected to ${this.#start.sessionId}`;
  }

  #showState(): void {
    const { activity, mode } = this.#conversation;
    controls.activity.textContent = activity === "" ? "" : `${activity} …`;
    controls.stop.disabled = activity === "";
    controls.mode.value = mode;
  }
}
