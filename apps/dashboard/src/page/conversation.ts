import type { CrabcodeClientEvent, SessionMessage } from "@trivium/crabcode-client";

/** A call of a tool; its result comes later. */
export interface CallEntry {
  readonly kind: "call";
  readonly toolName: string;
  readonly input: unknown;
  /** Title of the agent that calls; undefined for the main conversation. */
  readonly origin: string | undefined;
  result?: string;
  isError?: boolean;
}

/** A question that a person answers. `outcome` says how it ended. */
export interface QuestionEntry {
  readonly kind: "permission" | "choice";
  readonly toolUseId: string;
  readonly agentId: string | undefined;
  readonly origin: string | undefined;
  /** What is asked, in a line. */
  readonly title: string;
  /** More of it: the arguments of a call. */
  readonly detail: string | undefined;
  /** What "always" grants, for a permission. */
  readonly permissionKey: string | undefined;
  /** The options of a choice. */
  readonly options: readonly string[];
  readonly isMultiple: boolean;
  outcome?: string;
}

/** Text that grows while it streams. */
export interface TextEntry {
  readonly kind: "user" | "answer" | "thinking" | "agent";
  /** Title of the agent that speaks. */
  readonly origin?: string;
  text: string;
}

/** A line about the conversation. */
export interface NoteEntry {
  readonly kind: "note";
  readonly isBad: boolean;
  readonly text: string;
}

/** What a conversation shows, from the oldest to the newest. */
export type Entry = CallEntry | QuestionEntry | TextEntry | NoteEntry;

/** Hears of an entry that was added or changed. */
export type EntryListener = (entry: Entry) => void;

/** The conversation as the events of its session tell it. */
export class Conversation {
  /** What the model is doing; "" when nothing runs. */
  activity = "";
  mode: "agent" | "plan" = "agent";
  readonly #listener: EntryListener;
  readonly #calls = new Map<string, CallEntry>();
  readonly #questions = new Map<string, QuestionEntry>();
  readonly #agentTitles = new Map<string, string>();
  /** The text that grows, until something else comes. */
  #growing: TextEntry | undefined;

  constructor(listener: EntryListener) {
    this.#listener = listener;
  }

  /** A message this page sends. */
  say(text: string): void {
    this.#add({ kind: "user", text });
    this.activity = "waiting";
  }

  /** A line about the conversation. */
  note(text: string, isBad = false): void {
    this.#add({ kind: "note", text, isBad });
  }

  /** Shows a message of the history. */
  recall({ role, blocks, origin }: SessionMessage): void {
    if (origin === "task-notification") return this.note("an agent handed its result over");
    for (const block of blocks) {
      if (block.type === "text") this.#add({ kind: role === "user" ? "user" : "answer", text: block.text });
      if (block.type === "thinking") this.#add({ kind: "thinking", text: block.text });
      if (block.type === "tool-use") {
        const { toolUseId, toolName, input } = block;
        this.#begin(keyOf({ tool_use_id: toolUseId }), { kind: "call", toolName, input, origin: undefined });
      }
      if (block.type === "tool-result") {
        const { toolUseId, content, isError } = block;
        this.#finish(keyOf({ tool_use_id: toolUseId }), { result: content, isError });
      }
    }
  }

  /** Takes in what a subscription delivers. */
  apply(event: CrabcodeClientEvent): void {
    switch (event.type) {
      case "server.connected":
        this.mode = event.properties.mode ?? "agent";
        this.activity = event.properties.busy === true ? "working" : "";
        return;
      case "server.gap":
        return this.note("some events are missing here; the history holds what they led to");
      case "stream_text":
        return this.#grow("answer", event.text);
      case "thinking":
        return this.#grow("thinking", event.text);
      case "agent_output":
        if (event.stream === "text") this.#grow("agent", event.text, this.#originOf(event.agent_id));
        return;
      case "stream_retry":
        return this.#takeBack(event.discarded_text_chars);
      case "stream_mode":
        return this.#enter(event.mode);
      case "tool_use":
        return this.#begin(keyOf(event), {
          kind: "call",
          toolName: event.tool_name,
          input: event.tool_input,
          origin: this.#originOf(event.agent_id),
        });
      case "tool_result":
        return this.#finish(keyOf(event), {
          result: event.result_for_display ?? event.result,
          isError: event.is_error,
        });
      case "permission_request":
        return this.#ask(keyOf(event), {
          kind: "permission",
          toolUseId: event.tool_use_id,
          agentId: event.agent_id ?? undefined,
          origin: this.#originOf(event.agent_id),
          title: `Allow ${event.tool_name}?`,
          detail: JSON.stringify(event.tool_input, null, 2),
          permissionKey: event.permission_key ?? undefined,
          options: [],
          isMultiple: false,
        });
      case "choice_request":
        return this.#ask(keyOf(event), {
          kind: "choice",
          toolUseId: event.tool_use_id,
          agentId: event.agent_id ?? undefined,
          origin: this.#originOf(event.agent_id),
          title: event.question,
          detail: undefined,
          permissionKey: undefined,
          options: event.options,
          isMultiple: event.multiple,
        });
      case "permission_response": {
        const word = event.allowed ? (event.always_allow ? "always allowed" : "allowed") : "denied";
        return this.#settle(keyOf(event), event.resolution === "answered" ? word : event.resolution);
      }
      case "choice_response": {
        const word = event.cancelled ? "cancelled" : event.selected.join(", ");
        return this.#settle(keyOf(event), event.resolution === "answered" ? word : event.resolution);
      }
      case "agent_state":
        this.#agentTitles.set(event.agent_id, event.title);
        return this.note(`agent ${event.title}: ${event.status}`, event.status === "failed");
      case "mode_change":
        if (event.reason === "client") this.mode = event.mode;
        return this.note(
          event.reason === "client"
            ? `mode: ${event.mode}`
            : `the model asks for ${event.mode} mode: ${event.reason}`,
        );
      case "model_change":
        return this.note(`model: ${event.model_profile}`);
      case "compact":
        return this.note(
          `the context was compacted: ${event.messages_before} to ${event.messages_after} messages`,
        );
      case "error":
        return this.note(event.message, true);
      case "turn_complete":
        this.activity = "";
        this.#growing = undefined;
        if (event.reason !== "end_turn") this.note(`the turn ended: ${event.reason.replaceAll("_", " ")}`);
        return;
      case "file_change":
      case "permission_mode_change":
      case "plan_ready":
      case "revert":
      case "snapshot":
      case "server.heartbeat":
      case "unknown":
        return;
    }
  }

  #originOf(agentId: string | null | undefined): string | undefined {
    if (agentId === null || agentId === undefined) return undefined;
    return this.#agentTitles.get(agentId) ?? agentId;
  }

  #enter(mode: string): void {
    this.activity = mode.replace("-", " ");
    // The next text is that of another step.
    if (mode === "requesting") this.#growing = undefined;
  }

  #grow(kind: TextEntry["kind"], text: string, origin?: string): void {
    const growing = this.#growing;
    if (growing?.kind === kind && growing.origin === origin) {
      growing.text += text;
      return this.#listener(growing);
    }
    const entry: TextEntry = { kind, text, ...(origin !== undefined && { origin }) };
    this.#add(entry);
    this.#growing = entry;
  }

  #takeBack(count: number): void {
    const growing = this.#growing;
    if (growing === undefined || count === 0) return;
    growing.text = growing.text.slice(0, -count);
    this.#listener(growing);
  }

  #begin(id: string, call: CallEntry): void {
    if (this.#calls.has(id)) return;
    this.#calls.set(id, call);
    this.#add(call);
  }

  #finish(id: string, end: { readonly result: string; readonly isError: boolean }): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    Object.assign(call, end);
    this.#listener(call);
  }

  #ask(id: string, question: QuestionEntry): void {
    // Open questions are sent again with every connection; a settled one leaves its id to others.
    const known = this.#questions.get(id);
    if (known !== undefined && known.outcome === undefined) return;
    this.#questions.set(id, question);
    this.#add(question);
  }

  #settle(id: string, outcome: string): void {
    const question = this.#questions.get(id);
    if (question === undefined) return;
    question.outcome = outcome;
    this.#listener(question);
  }

  #add(entry: Entry): void {
    this.#growing = undefined;
    this.#listener(entry);
  }
}

/** Calls of different loops may have the same id. */
function keyOf({
  tool_use_id: id,
  agent_id: agentId,
}: {
  tool_use_id: string;
  agent_id?: string | null;
}): string {
  return `${agentId ?? ""}/${id}`;
}
