import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { commandLines } from "../testing/command-lines.ts";
import { until } from "../testing/until.ts";
import { createCommandRunner } from "./create-command-runner.ts";
import { sweepDeadServers } from "./helper-registry.ts";
import { commandLineOf, descendantsOf, listProcesses } from "./supervisor/process-table.ts";

const HIDE = `perl -e 'use POSIX; fork and exit; setsid; fork and exit; exec "sleep", "MARK"'`;
const COMMANDS = [
  "trap '' TERM; sleep MARK",
  "setsid sleep MARK & sleep MARK",
  `${HIDE}; sleep MARK`,
  "nohup sleep MARK > /dev/null 2>&1 & true",
];

describe.each(["auto", "fallback"])("a server with %s containment", { timeout: 30_000 }, (containment) => {
  it("takes everything with it within two seconds when it is killed", async () => {
    await using folder = await temporaryFolder();
    const mark = `61.${process.pid}`;
    const server = await startServer(folder.path, containment, mark);
    const helpers = descendantsOf(server.pid ?? 0).filter((pid) => commandLineOf(pid).includes("supervisor"));
    expect(helpers.length).toBeGreaterThanOrEqual(COMMANDS.length);
    server.kill("SIGKILL");
    const killedAt = performance.now();
    await until(() => withMark(mark).length === 0 && helpers.every((pid) => !isAlive(pid)));
    expect(performance.now() - killedAt).toBeLessThan(2000);
  });

  it("leaves what its helpers cannot end any more to the next one", async () => {
    await using folder = await temporaryFolder();
    const mark = `62.${process.pid}`;
    const server = await startServer(folder.path, containment, mark);
    const helpers = descendantsOf(server.pid ?? 0).filter((pid) => commandLineOf(pid).includes("supervisor"));
    for (const pid of [server.pid ?? 0, ...helpers]) process.kill(pid, "SIGSTOP");
    for (const pid of [server.pid ?? 0, ...helpers]) process.kill(pid, "SIGKILL");
    await until(() => helpers.every((pid) => !isAlive(pid)));
    expect(withMark(mark).length).toBeGreaterThan(0);
    await using next = await createCommandRunner({ dataFolder: folder.path });
    expect(withMark(mark)).toEqual([]);
    // Its own record; the logs of the dead server's commands stay.
    expect(readdirSync(folder.path).filter((name) => /^[0-9a-f]{32}$/.test(name))).toHaveLength(1);
    expect(readdirSync(folder.path)).toContain("0");
    expect(next.stats().live).toBe(0);
    // A server that lives is left alone.
    expect(await sweepDeadServers(folder.path)).toBe(0);
  });
});

/** A program that runs commands and waits to be killed. */
async function startServer(dataFolder: string, containment: string, mark: string): Promise<ChildProcess> {
  const module = new URL("./create-command-runner.ts", import.meta.url).href;
  const commands = COMMANDS.map((text) => text.replaceAll("MARK", mark));
  const program = `
    import { createCommandRunner } from ${JSON.stringify(module)};
    const runner = await createCommandRunner(${JSON.stringify({ dataFolder, containment })});
    for (const [index, text] of ${JSON.stringify(commands)}.entries()) {
      await runner.start({
        argv: ["bash", "-c", text], workingDirectory: "/", env: { PATH: process.env.PATH },
        logPath: ${JSON.stringify(dataFolder)} + "/" + index, headBytes: 10, tailBytes: 10, keepsLeftovers: true,
      });
    }
    process.stdout.write("ready");
  `;
  const server = spawn(
    process.execPath,
    ["--conditions=@trivium/source", "--input-type=module", "--eval", program],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  await once(server.stdout, "data");
  await until(() => withMark(mark).length === 6);
  return server;
}

function isAlive(pid: number): boolean {
  return listProcesses().some((stat) => stat.pid === pid && stat.state !== "Z");
}

function withMark(mark: string): string[] {
  return commandLines().filter((line) => /^\S*sleep /.test(line) && line.includes(mark));
}
