import { createHash } from "node:crypto";
import { inTransaction } from "@trivium/core/node";
import { z } from "zod";
import { CrabcodeError } from "../crabcode-error.ts";
import { readBranch } from "../sessions/read-branch.ts";
import { assertSessionId } from "../sessions/session-id.ts";
import { readSettings } from "../settings/read-settings.ts";
import { describeSession } from "./describe-session.ts";
import type { SessionCallDeps } from "./session-call-deps.ts";
import { checkedTitle } from "./session-title.ts";
import type { CreatedSession, CreateSessionInput, SessionInfo } from "./session-types.ts";

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,128}$/;

interface Running {
  readonly requestHash: string;
  readonly session: Promise<SessionInfo>;
}

/** Makes sessions, each once however often its call is repeated with a key. */
export class SessionCreation {
  readonly #deps: SessionCallDeps;
  /** Calls with a key that have not been answered. */
  readonly #running = new Map<string, Running>();

  constructor(deps: SessionCallDeps) {
    this.#deps = deps;
  }

  async create(input: CreateSessionInput): Promise<CreatedSession> {
    const { requests, environment, registry } = this.#deps;
    registry.assertOpen();
    const { idempotencyKey: key } = input;
    if (key === undefined) return { session: await this.#make(input, ""), isReplay: false };
    if (!IDEMPOTENCY_KEY.test(key)) {
      const message = "an idempotency key has 1 to 128 printable ASCII characters";
      throw new CrabcodeError("IDEMPOTENCY_KEY_INVALID", message);
    }
    const requestHash = hash(input);
    const running = this.#running.get(key);
    const known = running ?? requests.find(key, environment.clock.now());
    if (known !== undefined && known.requestHash !== requestHash) {
      throw new CrabcodeError("IDEMPOTENCY_MISMATCH", "the idempotency key belongs to another request");
    }
    if (running !== undefined) return { session: await running.session, isReplay: true };
    if (known !== undefined) return { session: await this.#replay(key), isReplay: true };
    const session = this.#make(input, requestHash);
    this.#running.set(key, { requestHash, session });
    try {
      return { session: await session, isReplay: false };
    } finally {
      this.#running.delete(key);
    }
  }

  async #make(input: CreateSessionInput, requestHash: string): Promise<SessionInfo> {
    const { registry, environment, database, requests } = this.#deps;
    const { store, clock, ids } = environment;
    const { sessionId: wanted = "", cwd: folder = "", mode = "", modelProfile = "", idempotencyKey } = input;
    const sessionId = wanted === "" ? ids.uuid() : wanted;
    assertSessionId(sessionId);
    registry.assertUnused(sessionId);
    const title = checkedTitle(input.title ?? "");
    if (mode !== "" && mode !== "agent" && mode !== "plan") {
      throw new CrabcodeError("MODE_INVALID", "mode must be agent or plan");
    }
    const cwd = await registry.chooseFolder(folder === "" ? undefined : folder, "cwd");
    this.#assertProfile(modelProfile, cwd);
    const created = {
      sessionId,
      cwd,
      title,
      createdAtMs: clock.now(),
      modelProfile: modelProfile === "" ? undefined : modelProfile,
      gitBranch: readBranch(cwd),
    };
    const session = await registry.create(created, () =>
      inTransaction(database, () => {
        store.insert(created);
        if (idempotencyKey !== undefined) {
          requests.add(idempotencyKey, { sessionId, requestHash, nowMs: clock.now() });
        }
      }),
    );
    session.policy.isPlanMode = mode === "plan";
    const described = await this.#describe(sessionId);
    if (idempotencyKey !== undefined) requests.answered(idempotencyKey, JSON.stringify(described));
    return described;
  }

  /** The answer of the call that made it; without one, as the process ended before, the session as it is. */
  async #replay(key: string): Promise<SessionInfo> {
    const { requests, environment, registry } = this.#deps;
    const known = requests.find(key, environment.clock.now());
    if (known?.response !== undefined) return storedInfo.parse(JSON.parse(known.response));
    const sessionId = known?.sessionId ?? "";
    await registry.find(sessionId);
    return this.#describe(sessionId);
  }

  async #describe(sessionId: string): Promise<SessionInfo> {
    const row = this.#deps.index.find(sessionId);
    if (row === undefined) throw new CrabcodeError("SESSION_NOT_FOUND", "no session has that id");
    return describeSession(this.#deps, row);
  }

  /** Opening it shows what it lacks, before there is a session that could not answer. */
  #assertProfile(profile: string, cwd: string): void {
    if (profile === "") return;
    const { environment, settings: sources } = this.#deps;
    const { models, logger } = environment;
    const settings = readSettings(sources, cwd, logger).models;
    if (!models.list(settings).some(({ name }) => name === profile)) {
      throw new CrabcodeError("PROFILE_NOT_FOUND", "no model profile has that name");
    }
    models.open(profile, { settings, sessionId: "", state: { read: () => undefined, write() {} } });
  }
}

/** An answer as it is stored; what is undefined is left out there. */
const storedInfo = z
  .object({
    sessionId: z.string(),
    title: z.string(),
    cwd: z.string(),
    state: z.enum(["idle", "busy", "stored", "archived", "closing"]),
    mode: z.enum(["agent", "plan"]),
    modelProfile: z.string(),
    createdAtMs: z.number(),
    updatedAtMs: z.number(),
    messageCount: z.number(),
    activeAgentCount: z.number(),
    pendingQuestionCount: z.number(),
    epoch: z.string(),
    headSeq: z.number(),
    firstUserMessage: z.string(),
    tokensUsed: z.number(),
    gitBranch: z.string().optional(),
    isDefault: z.boolean(),
  })
  .transform((info): SessionInfo => ({ ...info, gitBranch: info.gitBranch }));

function hash({
  sessionId = "",
  cwd = "",
  title = "",
  modelProfile = "",
  mode = "",
}: CreateSessionInput): string {
  return createHash("sha256")
    .update(JSON.stringify([sessionId, cwd, title, modelProfile, mode]))
    .digest("hex");
}
