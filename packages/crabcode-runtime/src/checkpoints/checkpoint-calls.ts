import { createHash } from "node:crypto";
import { abortable, type Clock, linkSignals } from "@trivium/core";
import { z } from "zod";
import { CrabcodeError } from "../crabcode-error.ts";
import { decodePageToken, pageSizeOf } from "../paging/page-token.ts";
import { takePage } from "../paging/take-page.ts";
import type { Session } from "../sessions/session.ts";
import type { SessionRegistry } from "../sessions/session-registry.ts";
import { characterCount } from "../text/first-characters.ts";
import type {
  CheckpointCalls,
  CheckpointPage,
  CreateCheckpointInput,
  CreatedCheckpoint,
  ListCheckpointsInput,
  RevertedCheckpoint,
  RevertInput,
} from "./checkpoint.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
import type { CheckpointRequest } from "./session-checkpoints.ts";

const MAX_LABEL_CHARS = 200;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,128}$/;

/** What the calls work with. */
export interface CheckpointCallsDeps {
  readonly registry: SessionRegistry;
  readonly store: CheckpointStore;
  readonly clock: Clock;
  /** Whether there is a session of that id, loaded or not. */
  readonly exists: (sessionId: string) => boolean;
}

/** What may be remembered under a key: an answer without what only its first call knows. */
const createdAnswer = z.object({
  warning: z.string(),
  checkpoint: z.object({
    checkpointId: z.string(),
    label: z.string(),
    createdAtMs: z.number(),
    messageId: z.string(),
    messageIndex: z.number(),
    snapshotId: z.union([z.string(), z.undefined()]),
    fileCount: z.number(),
    isAutomatic: z.boolean(),
  }),
});
const revertAnswer = z.object({
  filesWritten: z.array(z.string()),
  filesDeleted: z.array(z.string()),
  messagesRolledBack: z.number(),
  undoCheckpointId: z.union([z.string(), z.undefined()]),
  warning: z.string(),
});

/** What clients ask of checkpoints: finds the session, checks the request, waits for the turn lock. */
export class RuntimeCheckpointCalls implements CheckpointCalls {
  readonly #deps: CheckpointCallsDeps;

  constructor(deps: CheckpointCallsDeps) {
    this.#deps = deps;
  }

  async create(input: CreateCheckpointInput): Promise<CreatedCheckpoint> {
    const session = await this.#deps.registry.resolve({ sessionId: input.sessionId });
    const label = (input.label ?? "").toWellFormed();
    if (characterCount(label) > MAX_LABEL_CHARS) {
      throw new CrabcodeError("FIELD_INVALID", `label is longer than ${MAX_LABEL_CHARS} characters`, {
        sessionId: session.sessionId,
        field: "label",
      });
    }
    return await this.#answer(session, input, {
      method: "create",
      request: [label],
      answer: createdAnswer,
      run: (request) => session.checkpoints.create({ ...request, label }),
    });
  }

  async list(input: ListCheckpointsInput): Promise<CheckpointPage> {
    const { registry, store, exists } = this.#deps;
    const sessionId = input.sessionId === "" ? registry.defaultSessionId() : input.sessionId;
    if (!exists(sessionId)) throw new CrabcodeError("SESSION_NOT_FOUND", "no session has that id");
    const size = pageSizeOf(input);
    const identity = { list: "ListCheckpoints", filter: [sessionId] };
    const [before] = decodePageToken(input, identity, z.tuple([z.number()])) ?? [];
    const rows = store.newestFirst(sessionId, {
      limit: size + 1,
      ...(before !== undefined && { before }),
    });
    const page = takePage(rows, { size, identity, keyOf: ({ ordinal }) => [ordinal] });
    const checkpoints = page.rows.map(({ ordinal: _ordinal, ...checkpoint }) => checkpoint);
    return { sessionId, checkpoints, nextPageToken: page.nextPageToken };
  }

  async revert(input: RevertInput): Promise<RevertedCheckpoint> {
    const session = await this.#deps.registry.resolve({ sessionId: input.sessionId });
    const { checkpointId, scope = "both", isDryRun = false } = input;
    return await this.#answer(session, input, {
      method: "revert",
      request: [checkpointId, scope, isDryRun],
      answer: revertAnswer,
      run: (request) => session.checkpoints.revert({ ...request, checkpointId, scope, isDryRun }),
    });
  }

  /** Runs a call between turns, or gives the answer that its key has already. */
  async #answer<Answer extends object>(
    session: Session,
    { idempotencyKey, signal }: Pick<CreateCheckpointInput, "idempotencyKey" | "signal">,
    call: {
      method: string;
      request: readonly unknown[];
      answer: z.ZodType<Answer>;
      run: (request: CheckpointRequest) => Promise<Answer>;
    },
  ): Promise<Answer & { sessionId: string; isReplay: boolean }> {
    const { sessionId } = session;
    if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(idempotencyKey)) {
      const message = "an idempotency key has 1 to 128 printable ASCII characters";
      throw new CrabcodeError("IDEMPOTENCY_KEY_INVALID", message, { sessionId });
    }
    const requestHash = createHash("sha256").update(JSON.stringify(call.request)).digest("hex");
    const ended = signal ?? new AbortController().signal;
    const answered = session.betweenTurns(async (closing) => {
      ended.throwIfAborted();
      using either = linkSignals([ended, closing]);
      const { store, clock } = this.#deps;
      const place = { method: call.method, key: idempotencyKey ?? "", nowMs: clock.now() };
      const known = idempotencyKey === undefined ? undefined : store.findCall(sessionId, place);
      if (known !== undefined) {
        if (known.requestHash !== requestHash) {
          const message = "the idempotency key belongs to another request";
          throw new CrabcodeError("IDEMPOTENCY_MISMATCH", message, { sessionId });
        }
        const answer = call.answer.parse(JSON.parse(known.response));
        return { ...answer, sessionId, isReplay: true };
      }
      const publish: CheckpointRequest["publish"] = (event) => session.parts.bus.publishAndWait(event);
      const answer = await call.run({ publish, signal: either.signal });
      if (idempotencyKey !== undefined) {
        store.addCall(sessionId, { ...place, requestHash, response: JSON.stringify(answer) });
      }
      return { ...answer, sessionId, isReplay: false };
    });
    // A caller that is gone does not wait for the end of what it began.
    return await abortable(answered, ended);
  }
}
