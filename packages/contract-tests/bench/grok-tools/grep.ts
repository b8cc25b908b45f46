import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { alternate, median, processCpuMs, report, treeCpuMs } from "./measure.ts";
import { openTools } from "./tools-server.ts";

const FOLDERS = 500;
const FILES_PER_FOLDER = 100;
const NEEDLE = "needle_[0-9]+";
/**
 * Every tenth folder has a match: 150 lines with their headings, and the tool shows 200. So both sides search everything
 * once; beyond that the tool searches again, file by file, until it has what it shows.
 */
const FOLDERS_PER_HIT = 10;
/** What the tool gives ripgrep for a plain search of a folder, but for the pattern and the path. */
const ARGUMENTS = ["--no-config", "--color=never", "--with-filename", "--json", "--max-filesize=5M"];

/** `grep` over 50 000 files beside ripgrep alone. */
export async function benchGrep(): Promise<void> {
  await using tools = await openTools(["GrokBuild:grep"]);
  const { session, server } = tools;
  await makeTree(server.workspace);
  const program = ripgrepPath();
  const alone = async (): Promise<void> => {
    const child = spawn(program, [...ARGUMENTS, `--regexp=${NEEDLE}`, "--", "./"], {
      cwd: server.workspace,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, "close");
  };
  const sides = await alternate(
    {
      alone: { run: alone, cpuMs: () => processCpuMs(process.pid) },
      tool: {
        run: () => session.callOrThrow("grep", { pattern: NEEDLE }),
        cpuMs: () => treeCpuMs(server.pid),
      },
    },
    { blocks: 8, block: 5 },
  );
  const [tool, own] = [median(sides.tool.wallMs), median(sides.alone.wallMs)];
  const cpu = `CPU ${sides.tool.cpuMs.toFixed(0)} ms and ${sides.alone.cpuMs.toFixed(0)} ms`;
  report("grep over 50 000 files, beyond ripgrep alone", tool - own, {
    limit: 15,
    unit: "ms",
    note: `${tool.toFixed(1)} ms and ${own.toFixed(1)} ms; ${cpu}`,
  });
}

async function makeTree(root: string): Promise<void> {
  const text = "an ordinary line of a source file\n".repeat(30);
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = join(root, `d${Math.floor(folder / 50)}`, `e${folder}`);
    await mkdir(path, { recursive: true });
    const writes = Array.from({ length: FILES_PER_FOLDER }, (_, file) => {
      const hit = file === 0 && folder % FOLDERS_PER_HIT === 0 ? `needle_${folder}\n` : "";
      return writeFile(join(path, `f${file}.ts`), text + hit);
    });
    await Promise.all(writes);
  }
}

/** The program that comes with the runtime of the tools. */
function ripgrepPath(): string {
  const runtime = new URL("../../../grok-tools-runtime/package.json", import.meta.url);
  const { rgPath } = createRequire(runtime)("@vscode/ripgrep");
  return rgPath;
}
