import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { IdSource } from "@trivium/core";
import { inTransaction } from "@trivium/core/node";
import { agentTranscriptPath } from "../agents/agent-run.ts";
import { isInside } from "../paths/is-inside.ts";
import { isSessionId } from "../sessions/session-id.ts";
import { type AgentRecord, AgentStore } from "../store/agent-store.ts";
import type { SessionIndex, SessionRow } from "../store/session-index.ts";
import { isBeingRemoved } from "../store/session-removal.ts";
import { type TranscriptEntry, TranscriptFile, type TranscriptRecord } from "../store/transcript.ts";
import { firstCharacters } from "../text/first-characters.ts";
import { completeCalls } from "./complete-calls.ts";
import { readTranscript, type UpstreamFile } from "./read-upstream.ts";
import { StagedFiles } from "./staged-files.ts";
import { readAgents } from "./upstream-agents.ts";
import type { UpstreamMeta } from "./upstream-line.ts";

const MAX_TITLE_CHARS = 200;
const MAX_FIRST_MESSAGE_CHARS = 500;
const MAX_BRANCH_CHARS = 250;

/** What became of one session. */
export interface ImportedSession {
  readonly sessionId: string;
  /** The transcript it was read from. */
  readonly path: string;
  /** `present`: a session has that id already. `refused`: it could not be taken over. */
  readonly outcome: "imported" | "present" | "refused";
  /** Why it was refused; "" when it was not. */
  readonly problem: string;
  readonly title: string;
  readonly messageCount: number;
  readonly agentCount: number;
}

/** What an importer is made of. */
export interface SessionImporterDeps {
  readonly database: DatabaseSync;
  readonly index: SessionIndex;
  readonly transcripts: string;
  /** Absolute, links resolved. */
  readonly roots: readonly string[];
  readonly ids: IdSource;
}

/** Copies sessions of upstream into the data folder, one at a time. */
export class SessionImporter {
  readonly #deps: SessionImporterDeps;

  constructor(deps: SessionImporterDeps) {
    this.#deps = deps;
  }

  async import({ sessionId, path }: UpstreamFile, known: UpstreamMeta): Promise<ImportedSession> {
    const nothing = { sessionId, path, title: "", messageCount: 0, agentCount: 0 };
    const refused = { ...nothing, outcome: "refused" as const };
    if (!isSessionId(sessionId)) return { ...refused, problem: "its name is no session id" };
    const isPresent = this.#deps.index.find(sessionId) !== undefined;
    if (isPresent) return { ...nothing, outcome: "present", problem: "" };
    // What comes to its end with the next start would take the new files with it.
    if (isBeingRemoved(this.#deps.database, sessionId)) {
      return { ...refused, problem: "a session of that id is still being removed; start the server once" };
    }
    try {
      return await this.#take({ sessionId, path }, known);
    } catch (thrown) {
      return { ...refused, problem: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  }

  async #take({ sessionId, path }: UpstreamFile, known: UpstreamMeta): Promise<ImportedSession> {
    const transcript = await readTranscript(path);
    const records = completeCalls(transcript.records, () => this.#deps.ids.uuid());
    const meta = merged(known, transcript.meta);
    const cwd = await this.#folder(meta.cwd);
    const { database, ids } = this.#deps;
    const beside = path.replace(/\.jsonl$/, ".agents");
    const agents = await readAgents(`${beside}.json`, {
      isTaken: (agentId) => AgentStore.ownerOf(database, agentId) !== undefined,
      operationId: () => ids.hex(16),
    });
    const row = await toRow({ sessionId, cwd, path }, meta, records);
    await using files = await StagedFiles.create(this.#deps.transcripts, sessionId);
    await write(join(files.folder, `${sessionId}.jsonl`), records);
    for (const { agentId } of agents) {
      const target = agentTranscriptPath(files.folder, { sessionId, agentId });
      const source = await readTranscript(join(beside, `${agentId}.jsonl`)).catch(() => undefined);
      if (target === undefined || source === undefined) continue;
      await write(
        target,
        completeCalls(source.records, () => ids.uuid()),
      );
    }
    this.#insert(row, { agents, records, files });
    const messageCount = entriesOf(records).length;
    return {
      sessionId,
      path,
      outcome: "imported",
      problem: "",
      title: row.title,
      messageCount,
      agentCount: agents.length,
    };
  }

  #insert(
    row: SessionRow,
    {
      agents,
      records,
      files,
    }: { agents: readonly AgentRecord[]; records: readonly TranscriptRecord[]; files: StagedFiles },
  ): void {
    const store = new AgentStore(this.#deps.database, row.sessionId);
    inTransaction(this.#deps.database, () => {
      this.#deps.index.insert(row);
      for (const agent of agents) {
        store.insert(agent);
        store.update(agent);
      }
      files.move();
    });
    files.keep();
    try {
      this.#deps.index.reconcile(row.sessionId, entriesOf(records));
    } catch {
      // The session is there; the next start takes its messages into the search.
    }
  }

  /** @throws Error that says why the session cannot work in its folder */
  async #folder(cwd: string | undefined): Promise<string> {
    if (cwd === undefined) throw new Error("it does not say in which folder it works");
    if (!isAbsolute(cwd)) throw new Error(`its folder ${cwd} is not absolute`);
    const folder = await realpath(cwd).catch(() => undefined);
    if (folder === undefined || !(await stat(folder)).isDirectory()) {
      throw new Error(`its folder ${cwd} does not exist`);
    }
    if (this.#deps.roots.some((root) => isInside(root, folder))) return folder;
    throw new Error(`its folder ${cwd} lies outside the workspace; add it to tools.workspaceRoots`);
  }
}

async function write(path: string, records: readonly TranscriptRecord[]): Promise<void> {
  const file = new TranscriptFile(path);
  try {
    for (const record of records) {
      if (record.kind === "message") await file.append(record.entry);
      else await file.appendMark(record.mark);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function toRow(
  { sessionId, cwd, path }: UpstreamFile & { cwd: string },
  meta: UpstreamMeta,
  records: readonly TranscriptRecord[],
): Promise<SessionRow> {
  const entries = entriesOf(records);
  const times = entries.map(({ timestamp }) => Date.parse(timestamp)).filter((atMs) => !Number.isNaN(atMs));
  const { mtimeMs } = await stat(path);
  const createdAtMs = meta.createdAtMs ?? times[0] ?? Math.round(mtimeMs);
  const first = entries.find(({ message }) => message.role === "user" && message.origin === undefined);
  const said = first?.message.content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
  const firstUserMessage = meta.firstUserMessage ?? said ?? "";
  const given = meta.title?.trim() ?? "";
  const title = firstUserMessage.startsWith(given) ? given : given.replaceAll(/[\s\p{Cc}]+/gu, " ");
  return {
    sessionId,
    cwd,
    title: firstCharacters(title === "" ? firstUserMessage : title, MAX_TITLE_CHARS),
    modelProfile: "",
    firstUserMessage: firstCharacters(firstUserMessage, MAX_FIRST_MESSAGE_CHARS),
    messageCount: entries.length,
    tokensUsed: meta.tokensUsed ?? 0,
    createdAtMs,
    updatedAtMs: meta.updatedAtMs ?? times.at(-1) ?? createdAtMs,
    isArchived: meta.isArchived ?? false,
    gitBranch: firstLine(meta.gitBranch),
  };
}

function firstLine(branch: string | undefined): string | undefined {
  const [line = ""] = branch?.split(/\p{Cc}/u) ?? [];
  return line === "" ? undefined : firstCharacters(line, MAX_BRANCH_CHARS);
}

function entriesOf(records: readonly TranscriptRecord[]): TranscriptEntry[] {
  return records.flatMap((record) => (record.kind === "message" ? [record.entry] : []));
}

/** What the transcript says counts, the index fills in. */
function merged(index: UpstreamMeta, transcript: UpstreamMeta): UpstreamMeta {
  const said = Object.entries(transcript).filter(([, value]) => value !== undefined);
  return { ...index, ...Object.fromEntries(said) };
}
