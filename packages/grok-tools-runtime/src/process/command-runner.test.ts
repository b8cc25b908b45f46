import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandLines } from "../testing/command-lines.ts";
import { until } from "../testing/until.ts";
import type { Command, CommandEnd, CommandSpec } from "./command-runner.ts";
import { createCommandRunner, type ProcessRunner } from "./create-command-runner.ts";
import { childrenOf, readProcessStat } from "./supervisor/process-table.ts";

/** A program that detaches itself completely and lives on for a while. */
const daemon = ({ clearEnvironment = false, closeDescriptors = false } = {}): string => {
  const environment = clearEnvironment ? "%ENV = ();" : "";
  const descriptors = closeDescriptors ? "close($_) for (*STDIN, *STDOUT, *STDERR);" : "";
  const body = `use POSIX; fork and exit; setsid; fork and exit; ${environment} ${descriptors} exec "/bin/sleep", MARK`;
  return `perl -e '${body}'`;
};

/** Two processes that watch each other: who finds the other dead starts another. Never more than a few. */
function pair(): string {
  return `use POSIX ":sys_wait_h"; my $end = time + 20;
    sub watch { my $other = shift; while (time < $end) {
      select undef, undef, undef, 0.002; waitpid -1, WNOHANG; next if kill 0, $other;
      $other = fork; if (!$other) { setpgrp; watch(getppid); exit } } }
    my $peer = fork; if (!$peer) { setpgrp; watch(getppid); exit } watch($peer)`;
}

/** Commands whose processes try to stay. MARK becomes the argument that tells them from all others. */
const hostile: Readonly<Record<string, string>> = {
  "a plain child": "sleep MARK",
  "a background child of a subshell": "(sleep MARK &) ; sleep MARK",
  "a child in its own session": "setsid sleep MARK & sleep MARK",
  "a child in its own group": `perl -e 'setpgrp; exec "sleep", MARK' & sleep MARK`,
  "a job of an interactive-like shell": "set -m; sleep MARK & sleep MARK",
  "a child that ignores SIGTERM": "trap '' TERM; sleep MARK & sleep MARK; sleep MARK",
  "a stopped child": "sleep MARK & kill -STOP $!; sleep MARK",
  "a nohup child": "nohup sleep MARK >/dev/null 2>&1 & sleep MARK",
  "a daemon that keeps everything": `${daemon()}; sleep MARK`,
  "a daemon that cleared its environment": `${daemon({ clearEnvironment: true })}; sleep MARK`,
  "a daemon that closed its descriptors": `${daemon({ closeDescriptors: true })}; sleep MARK`,
  "a bomb of 60 processes": "trap '' TERM; for i in $(seq 60); do sleep MARK & done; wait; sleep MARK",
  "a process that forks into a new session on SIGTERM": `perl -e '$SIG{TERM} = sub { fork or do { use POSIX; setsid; exec "sleep", MARK } }; sleep 1 for 1..MARK'`,
  "a pair that start each other again": `perl -e '${pair()}' -- MARK; sleep MARK`,
};
/** Only the subreaper finds it. */
const hidden = `${daemon({ clearEnvironment: true, closeDescriptors: true })}; sleep MARK`;
const hopper = `perl -e 'use POSIX; my $end = time + 10; while (time < $end) { fork and exit; setsid; select undef, undef, undef, 0.0003 }' -- MARK; sleep MARK`;

describe.each(["auto", "fallback"] as const)(
  "CommandRunner with %s containment",
  { timeout: 20_000 },
  (containment) => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let runner: ProcessRunner;
    beforeAll(async () => {
      folder = await temporaryFolder();
      runner = await createCommandRunner({ dataFolder: folder.path, containment });
    });
    afterAll(async () => {
      await runner[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    });

    let count = 0;
    const start = (text: string, options: Partial<CommandSpec> = {}): Promise<Command> =>
      runner.start({
        argv: ["bash", "-c", text],
        workingDirectory: folder.path,
        env: { PATH: process.env["PATH"] ?? "", HOME: folder.path },
        logPath: join(folder.path, `${++count}.log`),
        headBytes: 1000,
        tailBytes: 1000,
        ...options,
      });
    const run = async (
      text: string,
      options: Partial<CommandSpec> = {},
    ): Promise<CommandEnd & { text: string; totalBytes: number }> => {
      const command = await start(text, options);
      const end = await command.ended;
      const { head, tail, totalBytes } = await command.output();
      return { ...end, text: Buffer.concat([head, tail]).toString(), totalBytes };
    };

    describe("the tree", () => {
      const kinds =
        containment === "auto" ? { ...hostile, "a hidden daemon": hidden, "a hopper": hopper } : hostile;

      it.each(Object.entries(kinds))("of %s ends with a kill", async (_kind, text) => {
        const mark = uniqueMark();
        const command = await start(`${text.replaceAll("MARK", mark)} # ${mark}`);
        await until(() => withMark(mark).length > 0);
        await delay(100);
        const end = await command.kill("killed", 100);
        expect(end).toMatchObject({ reason: "killed", survivors: [] });
        expect(withMark(mark)).toEqual([]);
      });

      const timed = [
        "a plain child",
        "a child that ignores SIGTERM",
        "a daemon that closed its descriptors",
        "a hopper",
      ];
      const timedKinds = Object.entries(kinds).filter(([kind]) => timed.includes(kind));
      it.each(timedKinds)("of %s ends with a time-out", async (_kind, text) => {
        const mark = uniqueMark();
        const end = await run(`${text.replaceAll("MARK", mark)} # ${mark}`, {
          timeoutMs: 250,
          timeoutGraceMs: 50,
        });
        expect(end).toMatchObject({ reason: "timed-out", survivors: [] });
        expect(withMark(mark)).toEqual([]);
      });
    });

    it("tells the exit code", async () => {
      expect(await run("exit 3")).toMatchObject({
        reason: "exited",
        exitCode: 3,
        signal: null,
        leftovers: [],
      });
    });

    it("tells the signal that ended the shell", async () => {
      expect(await run("kill -9 $$")).toMatchObject({ reason: "exited", exitCode: null, signal: "SIGKILL" });
    });

    it("gives SIGTERM time to be handled", async () => {
      const command = await start("trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done");
      await until(() => command.outputBytes > 0);
      expect(await command.kill("cancelled", 2000)).toMatchObject({ reason: "cancelled", exitCode: 7 });
      expect(Buffer.from((await command.output()).head).toString()).toMatch(/bye\n$/);
    });

    it("keeps the order of both outputs", async () => {
      const text = "for i in $(seq 200); do echo o$i; echo e$i >&2; done";
      const expected = Array.from({ length: 200 }, (_, index) => `o${index + 1}\ne${index + 1}\n`).join("");
      expect((await run(text, { headBytes: 10_000 })).text).toBe(expected);
    });

    it("keeps standard error apart when it has a log of its own", async () => {
      const stderrLogPath = join(folder.path, "apart.log");
      const command = await start("echo out; echo err >&2; echo more > /dev/stderr", { stderrLogPath });
      await command.ended;
      expect(Buffer.from((await command.output()).head).toString()).toBe("out\n");
      expect(Buffer.from((await command.stderr?.output())?.head ?? []).toString()).toBe("err\nmore\n");
      expect(readFileSync(stderrLogPath, "utf8")).toBe("err\nmore\n");
    });

    it("keeps bytes that are no text", async () => {
      const command = await start("printf '\\xff\\xfe\\x00a\\xc3'");
      await command.ended;
      expect([...(await command.output()).head]).toEqual([0xff, 0xfe, 0, 0x61, 0xc3]);
    });

    it("lets a command open its own output", async () => {
      expect((await run("echo a; echo b > /dev/stderr; echo c | tee /dev/stderr; echo d")).text).toBe(
        "a\nb\nc\nc\nd\n",
      );
    });

    it("keeps the beginning and the end of a long output, and all of it in the log", async () => {
      const command = await start("seq 1 200000");
      await command.ended;
      const { head, tail, omittedBytes, totalBytes } = await command.output();
      const log = await command.readLog(0, 10_000_000);
      expect(totalBytes).toBe(1_288_895);
      expect(log).toHaveLength(totalBytes);
      expect(Buffer.from(head)).toEqual(Buffer.from(log.subarray(0, 1000)));
      expect(Buffer.from(tail)).toEqual(Buffer.from(log.subarray(-1000)));
      expect(omittedBytes).toBe(totalBytes - 2000);
    });

    it("streams the whole output while the command runs", async () => {
      const command = await start("echo one; sleep 0.2; seq 1 50000; echo last");
      const pieces: Buffer[] = [];
      let offset = 0;
      for await (const chunk of command.chunks(new AbortController().signal)) {
        expect(chunk.offset).toBe(offset);
        offset += chunk.bytes.length;
        pieces.push(Buffer.from(chunk.bytes));
      }
      expect(Buffer.concat(pieces)).toEqual(Buffer.from(await command.readLog(0, 10_000_000)));
      expect(pieces[0]?.toString()).toBe("one\n");
    });

    it("tells the output so far", async () => {
      const command = await start("echo early; sleep 30");
      await until(() => command.outputBytes > 0);
      expect(Buffer.from((await command.output()).head).toString()).toBe("early\n");
      await command.kill("killed", 0);
    });

    it("ends a command whose output is beyond its limit", async () => {
      const end = await run("yes", { maxOutputBytes: 1_000_000 });
      expect(end.reason).toBe("output-limit");
    });

    it("runs without a log when that cannot be written", async () => {
      const end = await run("echo kept; exit 5", { logPath: "/nowhere/at/all.log" });
      expect(end).toMatchObject({ exitCode: 5, logIncompleteAt: 0, text: "kept\n" });
    });

    it("lets a command go on when the disk is full", async () => {
      const end = await run("seq 1 100000; exit 6", { logPath: "/dev/full" });
      expect(end).toMatchObject({ reason: "exited", exitCode: 6, logIncompleteAt: 0, totalBytes: 588_895 });
      expect(end.text).toMatch(/^1\n2\n[^]*\n100000\n$/);
    });

    it.each(["cat", "read line; echo $?", "git init -q r && cd r && git commit --allow-empty"])(
      "gives %s an empty input",
      async (text) => {
        const env = { PATH: process.env["PATH"] ?? "", HOME: folder.path, GIT_EDITOR: "true" };
        expect(await run(text, { timeoutMs: 5000, env })).toMatchObject({ reason: "exited" });
      },
    );

    it("gives a command the input it was started with", async () => {
      expect((await run("cat; echo end", { stdin: "some text\n" })).text).toBe("some text\nend\n");
    });

    it("runs a command of 300 KB like a short one", async () => {
      const text = `set -- ${"a".repeat(300_000)}; echo "$# \${#1} $0"; ls -l /proc/self/fd | grep -c ' 3 -> .*text'; exit 4`;
      expect(await run(text)).toMatchObject({ exitCode: 4, text: "1 300000 bash\n0\n" });
    });

    it("says why a command cannot be started", async () => {
      const missing = await run("", { argv: ["no-such-program"] });
      expect(missing).toMatchObject({
        reason: "spawn-failed",
        spawnError: "there is no program no-such-program",
      });
      const tooLong = await run("", { argv: ["echo", "a".repeat(200_000)] });
      expect(tooLong).toMatchObject({ reason: "spawn-failed", spawnError: expect.stringMatching(/exceed/) });
      await expect(start("true", { workingDirectory: "/nowhere" })).rejects.toMatchObject({
        kind: "invalidInput",
      });
      await expect(start("echo \0")).rejects.toMatchObject({ kind: "invalidInput" });
    });

    it("gives a command no environment but its own and the marks", async () => {
      const { text } = await run("env | sort", { env: { PATH: process.env["PATH"] ?? "", A: "b" } });
      const names = text.split("\n").map((line) => line.split("=")[0]);
      expect(names).toEqual(["A", "PATH", "PWD", "SHLVL", "_", "_TRIVIUM_COMMAND", "_TRIVIUM_SERVER", ""]);
    });

    it("has no terminal", async () => {
      expect(await run("echo x > /dev/tty")).toMatchObject({ exitCode: 1 });
    });

    it("keeps what a command leaves running, lists it and ends it on release", async () => {
      const mark = uniqueMark();
      const command = await start(`sleep ${mark} & setsid sleep ${mark} & echo started`, {
        keepsLeftovers: true,
      });
      const end = await command.ended;
      expect(end).toMatchObject({ reason: "exited", exitCode: 0, survivors: [] });
      expect(end.leftovers.map((process) => process.commandLine)).toEqual([`sleep ${mark}`, `sleep ${mark}`]);
      expect(withMark(mark)).toHaveLength(2);
      expect(runner.stats().lingering).toBe(1);
      await command.release();
      expect(withMark(mark)).toEqual([]);
      expect(runner.stats().lingering).toBe(0);
    });

    it("goes on reading what is left running, so that it does not die of a broken pipe", async () => {
      const command = await start("(for i in 1 2 3 4; do sleep 0.3; echo $i; done) & echo shell", {
        keepsLeftovers: true,
      });
      await command.ended;
      expect(Buffer.from((await command.output()).head).toString()).toBe("shell\n");
      await until(() => command.outputBytes === 14);
      expect(Buffer.from(await command.readLog(0, 100)).toString()).toBe("shell\n1\n2\n3\n4\n");
      await until(() => runner.stats().lingering === 0, 8000);
    });

    it("ends what a command leaves running when it is not to be kept", async () => {
      const mark = uniqueMark();
      expect(await run(`sleep ${mark} & true`)).toMatchObject({
        reason: "exited",
        exitCode: 0,
        leftovers: [],
      });
      expect(withMark(mark)).toEqual([]);
    });

    it("ends the result although a left-over writes for ever", async () => {
      const command = await start("yes & echo", { keepsLeftovers: true });
      const end = await command.ended;
      expect(end.durationMs).toBeLessThan(2500);
      await command.release();
    });

    it("ends the tree of a supervisor that was killed", async () => {
      const mark = uniqueMark();
      const hides = containment === "auto";
      const detached = daemon({ clearEnvironment: hides, closeDescriptors: hides }).replace("MARK", mark);
      const text = `echo before; setsid sleep ${mark} & ${detached}; sleep ${mark}`;
      const command = await start(text);
      await until(() => withMark(mark).length === 3 && command.outputBytes > 0);
      process.kill(readProcessStat(command.pid ?? 0)?.parentPid ?? 0, "SIGKILL");
      expect(await command.ended).toMatchObject({ reason: "supervisor-lost", exitCode: null, survivors: [] });
      expect(withMark(mark)).toEqual([]);
      expect(Buffer.from((await command.output()).head).toString()).toBe("before\n");
      expect(await run("echo next")).toMatchObject({ text: "next\n" });
    });

    it("reaps what detached itself and ended while the command runs", async () => {
      const command = await start("for i in $(seq 30); do (true &); done; echo made; sleep 30");
      await until(() => command.outputBytes > 0);
      const supervisor = readProcessStat(command.pid ?? 0)?.parentPid ?? 0;
      await until(() => childrenOf(supervisor).every((pid) => readProcessStat(pid)?.state !== "Z"));
      expect(childrenOf(supervisor)).toEqual([command.pid]);
      await command.kill("killed", 0);
    });

    it("starts another guardian when that was killed", async () => {
      const running = await start("sleep 0.5; echo after");
      const supervisor = readProcessStat(running.pid ?? 0)?.parentPid ?? 0;
      process.kill(readProcessStat(supervisor)?.parentPid ?? 0, "SIGKILL");
      expect(await running.ended).toMatchObject({ reason: "exited", exitCode: 0 });
      const ends = await Promise.all([1, 2, 3, 4, 5].map(() => run("sleep 0.2; echo new")));
      expect(ends.map((end) => end.text)).toEqual(Array.from({ length: 5 }, () => "new\n"));
    });

    it("takes a later kill without grace as a wish to hurry", async () => {
      const command = await start("trap '' TERM; echo ready; while :; do sleep 0.05; done");
      await until(() => command.outputBytes > 0);
      const first = command.kill("cancelled", 60_000);
      await command.kill("session-ended", 0);
      expect(await first).toMatchObject({ reason: "cancelled" });
    });
  },
);

describe("CommandRunner", { timeout: 20_000 }, () => {
  it("queues commands beyond its limit and runs them in order", async () => {
    await using folder = await temporaryFolder();
    await using runner = await createCommandRunner({ dataFolder: folder.path, maxCommands: 2 });
    const start = (name: string): Promise<Command> =>
      runner.start({
        argv: ["bash", "-c", `echo ${name} >> order; while [ ! -e go ]; do sleep 0.02; done`],
        workingDirectory: folder.path,
        env: { PATH: process.env["PATH"] ?? "" },
        logPath: join(folder.path, `${name}.log`),
        headBytes: 10,
        tailBytes: 10,
      });
    const commands: Command[] = [];
    for (const name of ["a", "b", "c", "d"]) commands.push(await start(name));
    expect(commands.map((command) => command.status)).toEqual(["running", "running", "queued", "queued"]);
    expect(runner.stats()).toMatchObject({ live: 2, queued: 2 });
    expect(await commands[2]?.kill("cancelled", 0)).toMatchObject({ reason: "cancelled", exitCode: null });
    await writeFile(join(folder.path, "go"), "");
    await Promise.all(commands.map((command) => command.ended));
    expect(readFileSync(join(folder.path, "order"), "utf8")).toBe("a\nb\nd\n");
  });

  it("keeps a place for a command, whatever was left running", async () => {
    await using folder = await temporaryFolder();
    await using runner = await createCommandRunner({ dataFolder: folder.path, maxCommands: 1 });
    const start = (text: string, name: string): Promise<Command> =>
      runner.start({
        argv: ["bash", "-c", text],
        workingDirectory: folder.path,
        env: { PATH: process.env["PATH"] ?? "" },
        logPath: join(folder.path, name),
        headBytes: 10,
        tailBytes: 10,
        keepsLeftovers: true,
      });
    for (const name of ["a.log", "b.log"]) {
      const command = await start("sleep 60 > /dev/null 2>&1 &", name);
      expect((await command.ended).leftovers).toHaveLength(1);
    }
    expect(runner.stats()).toMatchObject({ lingering: 2 });
    const command = await start("exit 4", "c.log");
    expect(await command.ended).toMatchObject({ exitCode: 4 });
  });

  it("counts the time a command waits for a place when that is asked for", async () => {
    await using folder = await temporaryFolder();
    const clock = new ManualClock();
    await using runner = await createCommandRunner({ dataFolder: folder.path, maxCommands: 1, clock });
    const start = (text: string, options: Partial<CommandSpec>): Promise<Command> =>
      runner.start({
        argv: ["bash", "-c", text],
        workingDirectory: folder.path,
        env: { PATH: process.env["PATH"] ?? "" },
        logPath: join(folder.path, "log"),
        headBytes: 10,
        tailBytes: 10,
        ...options,
      });
    const first = await start("while [ ! -e go ]; do sleep 0.02; done", {});
    const limited = { timeoutMs: 5000, countsWaiting: true };
    const impatient = await start("touch ran", { ...limited, timeoutMs: 4000 });
    const waiting = await start("sleep 60", limited);
    const unlimited = await start("exit 0", { timeoutMs: 4000 });
    await clock.advance(4800);
    expect(await impatient.ended).toMatchObject({ reason: "timed-out", exitCode: null });
    expect(unlimited.status).toBe("queued");
    await writeFile(join(folder.path, "go"), "");
    expect(await first.ended).toMatchObject({ reason: "exited" });
    const startedAt = performance.now();
    expect(await waiting.ended).toMatchObject({ reason: "timed-out" });
    // 200 ms are left of five seconds.
    expect(performance.now() - startedAt).toBeLessThan(3000);
    expect(await unlimited.ended).toMatchObject({ reason: "exited" });
    expect(readdirSync(folder.path)).not.toContain("ran");
  });

  it("ends every command when it is disposed and takes no more", async () => {
    await using folder = await temporaryFolder();
    const runner = await createCommandRunner({ dataFolder: folder.path });
    const mark = uniqueMark();
    const spec: CommandSpec = {
      argv: ["bash", "-c", `setsid sleep ${mark} & sleep ${mark}`],
      workingDirectory: folder.path,
      env: { PATH: process.env["PATH"] ?? "" },
      logPath: join(folder.path, "log"),
      headBytes: 10,
      tailBytes: 10,
    };
    const command = await runner.start(spec);
    await until(() => withMark(mark).length === 2);
    await runner[Symbol.asyncDispose]();
    expect(await command.ended).toMatchObject({ reason: "session-ended" });
    expect(withMark(mark)).toEqual([]);
    await expect(runner.start(spec)).rejects.toMatchObject({ kind: "unavailable" });
  });
});

let markCount = 0;

/** A number of seconds that no other process sleeps for. It does not end with 0, which Perl would leave out. */
function uniqueMark(): string {
  return `${30 + ++markCount}.${String(process.pid).padStart(7, "0")}1`;
}

/** Command lines of live processes that hold the mark, shells left out. */
function withMark(mark: string): string[] {
  return commandLines().filter((line) => line.includes(mark) && !line.startsWith("bash"));
}
