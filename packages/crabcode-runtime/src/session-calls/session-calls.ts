import { CrabcodeError } from "../crabcode-error.ts";
import type { InterruptResult } from "../crabcode-runtime.ts";
import { isSessionId } from "../sessions/session-id.ts";
import type { SessionReference } from "../sessions/session-selector.ts";
import { shuttingDown } from "../sessions/subscriptions.ts";
import type { SessionRow } from "../store/session-index.ts";
import { characterCount } from "../text/first-characters.ts";
import { SessionCreation } from "./create-session.ts";
import { describeSession } from "./describe-session.ts";
import { listMessages } from "./list-messages.ts";
import { listQuestions } from "./list-questions.ts";
import { listSessions } from "./list-sessions.ts";
import { listTools } from "./list-tools.ts";
import type { SessionCallDeps } from "./session-call-deps.ts";
import { requiredTitle } from "./session-title.ts";
import type {
  CloseOptions,
  CompactInput,
  CompactResult,
  CrabcodeQuestions,
  CrabcodeSessions,
  CreatedSession,
  CreateSessionInput,
  ListMessagesInput,
  ListQuestionsInput,
  ListSessionsInput,
  MessagePage,
  QuestionPage,
  ResumedSession,
  SessionInfo,
  SessionPage,
  SessionToolListing,
} from "./session-types.ts";
import { takeOver } from "./take-over.ts";

const MAX_INSTRUCTION_CHARS = 4000;

/** What clients ask about sessions: finds the session, checks the request, answers with what is so afterwards. */
export class SessionCalls implements CrabcodeSessions {
  readonly questions: CrabcodeQuestions = { list: (input) => this.#listQuestions(input) };
  readonly #deps: SessionCallDeps;
  readonly #creation: SessionCreation;

  constructor(deps: SessionCallDeps) {
    this.#deps = deps;
    this.#creation = new SessionCreation(deps);
  }

  create(input: CreateSessionInput): Promise<CreatedSession> {
    return this.#creation.create(input);
  }

  async get(sessionId: string): Promise<SessionInfo> {
    return describeSession(this.#deps, this.#read(sessionId));
  }

  async list(input: ListSessionsInput): Promise<SessionPage> {
    this.#assertReadable();
    return listSessions(this.#deps, input);
  }

  async resume(sessionId: string): Promise<ResumedSession> {
    const { registry, index } = this.#deps;
    registry.assertOpen();
    if (isSessionId(sessionId) && index.find(sessionId) === undefined) await takeOver(this.#deps, sessionId);
    this.#change(sessionId);
    const known = registry.peek(sessionId);
    const isLoaded = known !== undefined && !known.isClosing;
    const session = await registry.find(sessionId);
    if (session === undefined) throw notFound();
    const { stoppedAgentCount, isTurnRecovered } = session.recovery;
    return {
      session: await this.get(sessionId),
      stoppedAgentCount: isLoaded ? 0 : stoppedAgentCount,
      isTurnRecovered: !isLoaded && isTurnRecovered,
    };
  }

  async rename(sessionId: string, title: string): Promise<SessionInfo> {
    this.#change(sessionId);
    const { index, environment } = this.#deps;
    index.rename(sessionId, { title: requiredTitle(title), nowMs: environment.clock.now() });
    return this.get(sessionId);
  }

  async archive(sessionId: string, { interrupt = false }: CloseOptions = {}): Promise<SessionInfo> {
    const { registry, index } = this.#deps;
    for (;;) {
      this.#change(sessionId);
      await this.#unload(sessionId, interrupt);
      registry.assertOpen();
      const archived = registry.exclusively(sessionId, async () => {
        index.setArchived(sessionId, true);
        return this.get(sessionId);
      });
      // Otherwise somebody has loaded it again.
      if (archived !== undefined) return await archived;
    }
  }

  async unarchive(sessionId: string): Promise<SessionInfo> {
    this.#change(sessionId);
    this.#deps.index.setArchived(sessionId, false);
    return this.get(sessionId);
  }

  async close(sessionId: string, { interrupt = false }: CloseOptions = {}): Promise<SessionReference> {
    this.#change(sessionId);
    await this.#unload(sessionId, interrupt);
    return { sessionId };
  }

  async delete(sessionId: string): Promise<SessionReference> {
    const { registry, removal } = this.#deps;
    for (;;) {
      this.#change(sessionId);
      const session = await registry.settled(sessionId);
      const row = this.#change(sessionId);
      if (session !== undefined || !row.isArchived || registry.isDefault(sessionId)) {
        throw new CrabcodeError(
          "NOT_ARCHIVED",
          registry.isDefault(sessionId)
            ? "the default session cannot be deleted"
            : "only an archived session can be deleted",
          { sessionId },
        );
      }
      const removed = registry.exclusively(sessionId, () => removal.remove(row));
      if (removed === undefined) continue;
      await removed;
      return { sessionId };
    }
  }

  async listMessages(input: ListMessagesInput): Promise<MessagePage> {
    const { sessionId, agentId = "" } = input;
    const owner = sessionId === "" && agentId !== "" ? this.#ownerOf(agentId) : sessionId;
    return listMessages(this.#deps, this.#read(owner).sessionId, input);
  }

  async interrupt(sessionId: string, operationId?: string): Promise<InterruptResult> {
    const { registry } = this.#deps;
    registry.assertOpen();
    const row = this.#read(sessionId);
    const session = await registry.settled(row.sessionId);
    const nothing = { sessionId: row.sessionId, isInterrupted: false, operationId: "" };
    return (await session?.interruptTurn(operationId)) ?? nothing;
  }

  async compact({ sessionId, instructions = "", signal }: CompactInput): Promise<CompactResult> {
    const { registry } = this.#deps;
    registry.assertOpen();
    if (characterCount(instructions) > MAX_INSTRUCTION_CHARS) {
      const message = `instructions has more than ${MAX_INSTRUCTION_CHARS} characters`;
      throw new CrabcodeError("FIELD_INVALID", message, { field: "instructions" });
    }
    const session = await registry.resolve({ sessionId });
    const counts = await session.compact({ instructions, signal });
    return { sessionId: session.sessionId, ...counts };
  }

  async listTools(sessionId: string, subagentType: string): Promise<SessionToolListing> {
    return listTools(this.#deps, this.#read(sessionId), subagentType);
  }

  async #listQuestions(input: ListQuestionsInput): Promise<QuestionPage> {
    this.#assertReadable();
    const sessionId = input.sessionId === undefined ? undefined : this.#read(input.sessionId).sessionId;
    return listQuestions(this.#deps.registry, sessionId, input);
  }

  /** Out of memory when it resolves, unless somebody loads it again. */
  async #unload(sessionId: string, interrupt: boolean): Promise<void> {
    const { registry, unload } = this.#deps;
    const session = await registry.settled(sessionId);
    if (session === undefined) return;
    if (!interrupt && session.isBusy && !session.isClosing) {
      throw new CrabcodeError("SESSION_BUSY", "the session is busy", { sessionId });
    }
    await unload(session);
  }

  /** The session that a call means which changes nothing. */
  #read(sessionId: string): SessionRow {
    this.#assertReadable();
    const { registry, index } = this.#deps;
    const row = index.find(sessionId === "" ? registry.defaultSessionId() : sessionId);
    if (row === undefined) throw notFound();
    return row;
  }

  /** The session that a call is to change. */
  #change(sessionId: string): SessionRow {
    this.#deps.registry.assertOpen();
    if (sessionId === "") {
      throw new CrabcodeError("FIELD_INVALID", "session_id is empty", { field: "session_id" });
    }
    return this.#read(sessionId);
  }

  #ownerOf(agentId: string): string {
    this.#assertReadable();
    const owner = this.#deps.ownerOf(agentId);
    if (owner === undefined)
      throw new CrabcodeError("AGENT_NOT_FOUND", "no session has an agent with that id");
    return owner;
  }

  #assertReadable(): void {
    if (!this.#deps.database.isOpen) throw shuttingDown();
  }
}

function notFound(): CrabcodeError {
  return new CrabcodeError("SESSION_NOT_FOUND", "no session has that id");
}
