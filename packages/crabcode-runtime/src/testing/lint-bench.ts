import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TriviumError } from "@trivium/core";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import type { ProgramRequest, ProgramResult, RunProgram } from "../ports/program-port.ts";
import { createLint } from "../tools/lint.ts";
import type { ToolOutcome } from "../tools/tool.ts";
import { MemoryToolbox } from "./memory-toolbox.ts";

/** What a program of the bench prints. Default: nothing, with code 0. */
export interface LinterAnswer {
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** The tool `Lint` over a folder of its own, with programs that the test makes up. */
export class LintBench implements AsyncDisposable {
  readonly toolbox: MemoryToolbox = new MemoryToolbox();
  readonly abort: AbortController = new AbortController();
  /** What was run, in order. */
  readonly runs: ProgramRequest[] = [];
  /** Installed programs, by name or path. */
  readonly programs: Map<string, LinterAnswer | Error> = new Map();
  /** Replaces the made up programs. */
  runProgram: RunProgram = (request) => this.#answer(request);
  isTrustedFolder = true;
  /** Folder of the session. */
  readonly cwd: string;
  readonly #folder: AsyncDisposable & { readonly path: string };

  private constructor(folder: AsyncDisposable & { readonly path: string }) {
    this.#folder = folder;
    this.cwd = join(folder.path, "work");
  }

  /** @param files by path relative to the folder of the session */
  static async create(files: Readonly<Record<string, string>>): Promise<LintBench> {
    const bench = new LintBench(await temporaryFolder());
    for (const [name, text] of Object.entries(files)) await bench.write(name, text);
    return bench;
  }

  async write(name: string, text: string): Promise<void> {
    const path = join(this.cwd, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o755 });
    this.toolbox.files.set(path, text);
  }

  /** Calls the tool as a turn does, without asking. */
  async lint(input: Record<string, unknown>): Promise<ToolOutcome> {
    const { cwd, isTrustedFolder } = this;
    const tool = createLint({ run: (request) => this.#run(request), cwd, isTrustedFolder });
    const prepared = tool.prepare(input, { mode: "agent" });
    if ("problem" in prepared) return { result: prepared.problem, isError: true };
    const toolbox = await this.toolbox.open({ sessionId: "s", cwd, additionalDirectories: [] });
    return await prepared.run({
      toolbox,
      targetPath: await toolbox.resolvePath(prepared.target?.path ?? "."),
      clock: new ManualClock(),
      cwd,
      environment: { FROM: "settings" },
      toolUseId: "c1",
      agentId: null,
      operationId: "o1",
      isInteractive: true,
      signal: this.abort.signal,
      emit: () => {},
      askChoice: () => Promise.reject(new Error("nobody asks here")),
      questionTimeoutSeconds: 0,
      requestMode: () => false,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }

  #run(request: ProgramRequest): Promise<ProgramResult> {
    this.runs.push(request);
    return this.runProgram(request);
  }

  async #answer({ argv: [name] }: ProgramRequest): Promise<ProgramResult> {
    const answer = this.programs.get(name);
    if (answer === undefined) throw new TriviumError("notFound", `no program ${name}`);
    if (answer instanceof Error) throw answer;
    const { exitCode = 0, stdout = "", stderr = "" } = answer;
    return { exitCode, stdout: Buffer.from(stdout), stderr };
  }
}
