import type { Client } from "@connectrpc/connect";
import type { IdSource } from "@trivium/core";
import type { SessionService } from "@trivium/proto/crabcode-sessions";
import { type CallSettings, mapped, withSignal } from "./call-settings.ts";
import {
  parsed,
  type SessionMessage,
  type SessionSnapshot,
  type SessionStateName,
  toMessage,
  toNumber,
  toSession,
  toWireState,
} from "./session-snapshot.ts";

/** Which part of a list a call gives. */
export interface PageSettings {
  /** Default 50, at most 500. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the page before; the rest of the options stays the same. */
  readonly pageToken?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link SessionCalls.create}. */
export interface CreateSessionOptions {
  /** Default: the server makes one. */
  readonly sessionId?: string | undefined;
  /** Absolute folder inside a workspace root of the server. Default: the first root. */
  readonly cwd?: string | undefined;
  /** Default: from the first message. */
  readonly title?: string | undefined;
  readonly modelProfile?: string | undefined;
  /** Default `agent`. */
  readonly mode?: "agent" | "plan" | undefined;
  /** 1 to 128 printable ASCII characters; a second call with it gets the same session. Default: a key of its own. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link SessionCalls.list}: all of it must hold. */
export interface ListSessionsOptions extends PageSettings {
  /** Default: all but archived ones. */
  readonly states?: readonly SessionStateName[] | undefined;
  /** Exactly this folder. */
  readonly cwd?: string | undefined;
  /** Words that all occur in the title or in messages, up to 1 000 characters. */
  readonly query?: string | undefined;
}

/** One page of sessions, the one that changed last first. */
export interface SessionList {
  readonly sessions: readonly SessionSnapshot[];
  /** "" at the end. */
  readonly nextPageToken: string;
  /** Sessions that fit now. */
  readonly totalSize: number;
}

/** A session that was loaded, and what the server had to clear up. */
export interface ResumedSession {
  readonly session: SessionSnapshot;
  readonly stoppedAgentCount: number;
  readonly isTurnRecovered: boolean;
}

/** Options of {@link SessionCalls.listMessages}. */
export interface ListMessagesOptions extends PageSettings {
  readonly sessionId?: string | undefined;
  /** An agent instead of the main loop. */
  readonly agentId?: string | undefined;
  readonly newestFirst?: boolean | undefined;
  /** What a model would be sent now, after compactions and reverts. */
  readonly projected?: boolean | undefined;
}

/** One page of messages. */
export interface MessageList {
  readonly messages: readonly SessionMessage[];
  /** "" at the end. */
  readonly nextPageToken: string;
  readonly totalSize: number;
}

/** Options of calls that end what a session does. */
export interface CloseSessionOptions {
  /** Interrupt it. Default false: a busy session refuses with SESSION_BUSY. */
  readonly interrupt?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The messages a model is sent, counted. */
export interface CompactedSession {
  readonly messageCountBefore: number;
  /** The same as before when a summary would not have been smaller. */
  readonly messageCountAfter: number;
}

/** A tool as a model of a session is told of it. */
export interface SessionToolInfo {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: unknown;
  readonly isReadOnly: boolean;
  readonly isConcurrencySafe: boolean;
  /** Offered in the mode the session is in. */
  readonly isEnabled: boolean;
  /** `builtin`, `mcp:<server>` or `skill`. */
  readonly source: string;
}

/** What the calls are made with. */
export interface SessionCallsDeps {
  readonly client: Client<typeof SessionService>;
  readonly ids: IdSource;
}

/** The sessions of a server: making, finding, naming, archiving and deleting them, and what they hold. */
export class SessionCalls {
  readonly #deps: SessionCallsDeps;

  constructor(deps: SessionCallsDeps) {
    this.#deps = deps;
  }

  async create(options: CreateSessionOptions = {}): Promise<SessionSnapshot> {
    const { client, ids } = this.#deps;
    const { sessionId = "", cwd = "", title = "", modelProfile = "", mode = "", signal } = options;
    const headers = { "idempotency-key": options.idempotencyKey ?? ids.hex(16) };
    const request = { sessionId, cwd, title, modelProfile, mode };
    const { session } = await mapped(client.createSession(request, { headers, ...withSignal(signal) }));
    return toSession(session);
  }

  /** @param sessionId "" or absent: the default session */
  async get(sessionId = "", { signal }: Pick<CallSettings, "signal"> = {}): Promise<SessionSnapshot> {
    const { session } = await mapped(this.#deps.client.getSession({ sessionId }, withSignal(signal)));
    return toSession(session);
  }

  /** One page; {@link SessionCalls.all} goes through all of them. */
  async list(options: ListSessionsOptions = {}): Promise<SessionList> {
    const { states = [], cwd = "", query = "", pageSize = 0, pageToken = "", signal } = options;
    const request = { states: states.map(toWireState), cwd, query, pageSize, pageToken };
    const page = await mapped(this.#deps.client.listSessions(request, withSignal(signal)));
    return {
      sessions: page.sessions.map(toSession),
      nextPageToken: page.nextPageToken,
      totalSize: toNumber("total_size", page.totalSize),
    };
  }

  /** Every session that fits, page by page as they are read. */
  async *all(options: ListSessionsOptions = {}): AsyncGenerator<SessionSnapshot, void, undefined> {
    for (let pageToken = options.pageToken; ; ) {
      const page = await this.list({ ...options, pageToken });
      yield* page.sessions;
      pageToken = page.nextPageToken;
      if (pageToken === "") return;
    }
  }

  /** Loads a stored or archived session. */
  async resume(sessionId: string, { signal }: Pick<CallSettings, "signal"> = {}): Promise<ResumedSession> {
    const call = this.#deps.client.resumeSession({ sessionId }, withSignal(signal));
    const { session, stoppedAgentCount, turnRecovered } = await mapped(call);
    return { session: toSession(session), stoppedAgentCount, isTurnRecovered: turnRecovered };
  }

  /** Sets the title for good. */
  async rename(
    sessionId: string,
    title: string,
    { signal }: Pick<CallSettings, "signal"> = {},
  ): Promise<SessionSnapshot> {
    const call = this.#deps.client.renameSession({ sessionId, title }, withSignal(signal));
    return toSession((await mapped(call)).session);
  }

  /** Closes a session and archives it. */
  async archive(sessionId: string, options: CloseSessionOptions = {}): Promise<SessionSnapshot> {
    const { interrupt = false, signal } = options;
    const call = this.#deps.client.archiveSession({ sessionId, interrupt }, withSignal(signal));
    return toSession((await mapped(call)).session);
  }

  async unarchive(
    sessionId: string,
    { signal }: Pick<CallSettings, "signal"> = {},
  ): Promise<SessionSnapshot> {
    const call = this.#deps.client.unarchiveSession({ sessionId }, withSignal(signal));
    return toSession((await mapped(call)).session);
  }

  /** Takes a session out of the server's memory; it stays stored. */
  async close(sessionId: string, { interrupt = false, signal }: CloseSessionOptions = {}): Promise<void> {
    await mapped(this.#deps.client.closeSession({ sessionId, interrupt }, withSignal(signal)));
  }

  /** Removes an archived session with everything that is kept of it. */
  async delete(sessionId: string, { signal }: Pick<CallSettings, "signal"> = {}): Promise<void> {
    await mapped(this.#deps.client.deleteSession({ sessionId }, withSignal(signal)));
  }

  /** One page of a history; {@link SessionCalls.messages} goes through all of them. */
  async listMessages(options: ListMessagesOptions = {}): Promise<MessageList> {
    const { sessionId = "", agentId, newestFirst = false, projected = false, signal } = options;
    const { pageSize = 0, pageToken = "" } = options;
    const agent = agentId === undefined ? {} : { agentId };
    const request = { sessionId, ...agent, newestFirst, projected, pageSize, pageToken };
    const page = await mapped(this.#deps.client.listMessages(request, withSignal(signal)));
    return {
      messages: page.messages.map(toMessage),
      nextPageToken: page.nextPageToken,
      totalSize: toNumber("total_size", page.totalSize),
    };
  }

  /** Every message, page by page as they are read. */
  async *messages(options: ListMessagesOptions = {}): AsyncGenerator<SessionMessage, void, undefined> {
    for (let pageToken = options.pageToken; ; ) {
      const page = await this.listMessages({ ...options, pageToken });
      yield* page.messages;
      pageToken = page.nextPageToken;
      if (pageToken === "") return;
    }
  }

  /** Interrupts what runs in the main loop, or only that operation. Gives its id; undefined when nothing did. */
  async interruptTurn({
    sessionId = "",
    operationId,
    signal,
  }: CallSettings & { readonly operationId?: string | undefined } = {}): Promise<string | undefined> {
    const request = { sessionId, ...(operationId !== undefined && { operationId }) };
    const result = await mapped(this.#deps.client.interruptTurn(request, withSignal(signal)));
    return result.interrupted ? result.operationId : undefined;
  }

  /**
   * Lets the model summarise the older messages when no turn runs. Throws kind `failedPrecondition` when there is too
   * little to summarise, `unavailable` when the model could not.
   */
  async compact({
    sessionId = "",
    instructions = "",
    signal,
  }: CallSettings & {
    /** More to heed in the summary, up to 4 000 characters. */
    readonly instructions?: string | undefined;
  } = {}): Promise<CompactedSession> {
    const call = this.#deps.client.compactSession({ sessionId, instructions }, withSignal(signal));
    const { messageCountBefore, messageCountAfter } = await mapped(call);
    return { messageCountBefore, messageCountAfter };
  }

  /** What a model is offered, in the main loop or as an agent of a type. */
  async listTools({
    sessionId = "",
    subagentType = "",
    signal,
  }: CallSettings & { readonly subagentType?: string | undefined } = {}): Promise<SessionToolInfo[]> {
    const call = this.#deps.client.listSessionTools({ sessionId, subagentType }, withSignal(signal));
    return (await mapped(call)).tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: parsed(tool.inputSchemaJson),
      isReadOnly: tool.readOnly,
      isConcurrencySafe: tool.concurrencySafe,
      isEnabled: tool.enabled,
      source: tool.source,
    }));
  }
}
