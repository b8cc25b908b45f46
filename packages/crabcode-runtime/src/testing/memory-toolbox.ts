import { resolve } from "node:path";
import type { CommandResult, OpenToolbox, ToolboxPort, ToolboxResult } from "../ports/toolbox-port.ts";

type Command = Parameters<ToolboxPort["runCommand"]>[0];

const finished: CommandResult = {
  stdout: "",
  stderr: "",
  exitCode: 0,
  signal: null,
  isTimedOut: false,
  isTruncated: false,
};

/** Files in memory and commands that a test scripts. One for all sessions of a test. */
export class MemoryToolbox {
  readonly files: Map<string, string> = new Map();
  readonly commands: string[] = [];
  /** Symbolic links: absolute path of the link and where it leads. */
  readonly links: Map<string, string> = new Map();
  isDisposed = false;
  /** Replaces the resolving of paths. */
  onResolve: ((path: string) => Promise<string>) | undefined;
  /** Called when a toolbox is disposed. */
  onDispose: (() => Promise<void>) | undefined;
  /** Answers a command. Absent: `echo X` prints X, everything else prints nothing. */
  onCommand: ((command: Command) => Promise<Partial<CommandResult>>) | undefined;

  /** Called before a job that has files for itself. */
  onExclusively: (() => Promise<void>) | undefined;

  readonly open: OpenToolbox = ({ cwd }) => Promise.resolve(this.#port(cwd));

  #port(cwd: string): ToolboxPort {
    const at = (path = "."): string => this.#followed(resolve(cwd, path));
    return {
      resolvePath: (path) => this.onResolve?.(path) ?? Promise.resolve(at(path)),
      readText: async ({ path, offset = 1, maxLines }) => {
        const text = this.files.get(at(path));
        if (text === undefined) return missing(path);
        const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
        const start = offset < 0 ? Math.max(0, lines.length + offset) : Math.max(1, offset) - 1;
        const chosen = lines.slice(start, start + maxLines);
        return {
          kind: "ok",
          absolutePath: at(path),
          rawText: chosen.map((line) => `${line}\n`).join(""),
          firstLine: start + 1,
          totalLines: lines.length,
          isTruncated: start + chosen.length < lines.length,
        };
      },
      editText: async ({ path, oldText, newText, replaceAll }) => {
        const before = this.files.get(at(path));
        if (before === undefined) return missing(path);
        const matchCount = before.split(oldText).length - 1;
        if (matchCount === 0) return { kind: "failure", code: "no-match", message: "no match" };
        if (matchCount > 1 && !replaceAll) {
          return { kind: "failure", code: "several-matches", message: "several", matchCount };
        }
        const after = before.split(oldText).join(newText);
        this.files.set(at(path), after);
        return {
          kind: "ok",
          absolutePath: at(path),
          before,
          after,
          details: [{ firstLine: 1, lastLine: 1 }],
        };
      },
      writeFile: async ({ path, content }) => {
        const before = this.files.get(at(path)) ?? null;
        this.files.set(at(path), content);
        return { kind: "ok", absolutePath: at(path), before };
      },
      search: async ({ pattern }) => ({
        kind: "ok",
        matches: [...this.files].flatMap(([path, text]) =>
          text
            .split("\n")
            .map((line, index) => ({ path, line: index + 1, text: line }))
            .filter(({ text: line }) => new RegExp(pattern).test(line)),
        ),
        isTruncated: false,
        isTimedOut: false,
      }),
      findFiles: async () => ({ kind: "ok", paths: [...this.files.keys()], moreCount: 0 }),
      exclusively: async (_paths, job) => {
        await this.onExclusively?.();
        return await job();
      },
      runCommand: async (command) => {
        this.commands.push(command.command);
        const echoed = /^echo (.*)$/.exec(command.command)?.[1];
        const result = await (this.onCommand?.(command) ?? {
          stdout: echoed === undefined ? "" : `${echoed}\n`,
        });
        return { kind: "ok", ...finished, ...result };
      },
      [Symbol.asyncDispose]: async () => {
        this.isDisposed = true;
        await this.onDispose?.();
      },
    };
  }

  #followed(path: string): string {
    for (const [link, target] of this.links) {
      if (path === link || path.startsWith(`${link}/`)) return target + path.slice(link.length);
    }
    return path;
  }
}

function missing(path: string): ToolboxResult<never> {
  return { kind: "failure", code: "not-found", message: `no file ${path}`, path };
}
