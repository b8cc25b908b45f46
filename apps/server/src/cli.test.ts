import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { runCli } from "./cli.ts";

/** Runs a command line in a folder and keeps what it prints. */
async function run(parameters: readonly string[], folder = "/nowhere", env: Record<string, string> = {}) {
  const printed = { stdout: "", stderr: "" };
  const exitCode = await runCli(parameters, {
    env,
    folder,
    stdout: { write: (text) => void (printed.stdout += text) },
    stderr: { write: (text) => void (printed.stderr += text) },
    pipes: () => ({ input: Readable.from([]), output: new PassThrough() }),
    signal: new AbortController().signal,
  });
  return { exitCode, ...printed };
}

describe("trivium config print", () => {
  it("shows every value with its origin, and no secret", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "trivium.json"), '{ "limits": { "drainMs": 5 } }');
    const { exitCode, stdout } = await run(["config", "print", "--listen", "127.0.0.1:1"], folder.path, {
      TRIVIUM_TOKEN: "hunter2",
    });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^listen +"127.0.0.1:1" +--listen$/m);
    expect(stdout).toMatch(/^limits\.drainMs +5 +.*trivium\.json:1$/m);
    expect(stdout).toMatch(/^token +"\(secret\)" +TRIVIUM_TOKEN$/m);
    expect(stdout).toMatch(/^log\.level +"info" +default$/m);
    expect(stdout).not.toContain("hunter2");
  });

  it("prints JSON for programs", async () => {
    const { stdout } = await run(["config", "print", "--json", "--set", "log.level=debug"]);
    expect(JSON.parse(stdout)).toContainEqual({
      name: "log.level",
      value: "debug",
      origin: "--set log.level",
    });
  });
});

describe("trivium doctor", () => {
  it("names what is ignored in a folder that is not trusted", async () => {
    await using folder = await temporaryFolder();
    const own = join(folder.path, ".crabcode");
    await mkdir(own);
    await writeFile(join(own, "mcp_servers.json"), '{ "evil": { "command": "evil" } }');
    await writeFile(join(own, "settings.json"), '{ "hooks": {}, "language": "de" }');
    const parameters = ["--workspace", folder.path, "--data-dir", join(folder.path, "data")];
    const { stdout } = await run(["doctor", "--listen", "127.0.0.1:0", "--json", ...parameters], folder.path);
    const results = JSON.parse(stdout) as { name: string; status: string; detail: string }[];
    const settings = results.find(({ name }) => name === "settings");
    expect(settings?.status).toBe("warn");
    expect(settings?.detail).toMatch(
      /MCP servers of a folder that is not trusted are ignored: .*mcp_servers\.json/,
    );
    expect(settings?.detail).toMatch(/settings\.json: hooks/);
    expect(settings?.detail).not.toContain("language");
  });

  it("finds everything the server needs, and says which thing is missing", async () => {
    await using folder = await temporaryFolder();
    const parameters = ["--json", "--workspace", folder.path, "--data-dir", join(folder.path, "data")];
    const healthy = await run(["doctor", "--listen", "127.0.0.1:0", ...parameters], folder.path, {
      PATH: process.env["PATH"] ?? "",
    });
    const results = JSON.parse(healthy.stdout) as { name: string; status: string; detail: string }[];
    expect(results.filter(({ status }) => status === "fail")).toEqual([]);
    expect(results.map(({ name }) => name)).toEqual([
      "node",
      "data folder",
      "port",
      "commands",
      "ripgrep",
      "cells",
      "settings",
      "models",
    ]);
    expect(results.at(-1)?.detail).toMatch(/^offline is used/);
    expect(healthy.exitCode).toBe(0);
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const sick = await run(["doctor", "--listen", `127.0.0.1:${port}`, ...parameters.slice(1)], folder.path);
    expect(sick.stdout).toMatch(new RegExp(`^fail +port +127.0.0.1:${port} cannot be bound`, "m"));
    expect(sick.exitCode).toBe(1);
    other.close();
  });
});

describe("trivium", () => {
  it("says which setting is unknown and exits with 2", async () => {
    expect(await run(["config", "print", "--set", "log.levle=debug"])).toMatchObject({
      exitCode: 2,
      stderr: "trivium: --set log.levle: there is no setting log.levle; did you mean log.level\n",
    });
  });

  it("exits with 2 for an unknown option and shows what there is for --help", async () => {
    expect(await run(["serve", "--port", "1"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--port"),
    });
    const help = await run(["--help"]);
    expect(help.exitCode).toBe(0);
    expect(help.stdout).toMatch(/serve[\s\S]*doctor[\s\S]*config/);
  });

  it("names the nearest command", async () => {
    expect(await run(["docter"])).toMatchObject({
      exitCode: 2,
      stderr: "trivium: there is no command docter; did you mean doctor\n",
    });
    expect((await run(["frobnicate"])).stderr).toContain(
      "there are: serve, doctor, code-mode-host, import-sessions, config, help",
    );
  });

  it("refuses to serve others without a token", async () => {
    expect(await run(["serve", "--listen", "0.0.0.0:0"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/listen is 0\.0\.0\.0:0, which others can reach, and there is no token/),
    });
  });

  it("refuses a workspace that is no folder", async () => {
    expect(await run(["serve", "--listen", "127.0.0.1:0", "--workspace", "/no/such"])).toMatchObject({
      exitCode: 2,
      stderr: "trivium: workspace is /no/such, which is no folder: make it, or name another one\n",
    });
  });

  it("says what to do about a port that is taken, and leaves nothing behind", async () => {
    await using folder = await temporaryFolder();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const listen = `127.0.0.1:${port}`;
    const parameters = ["--workspace", folder.path, "--data-dir", join(folder.path, "data")];
    expect(
      await run(["serve", "--listen", listen, "--set", "services=code-mode", ...parameters]),
    ).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`trivium: cannot listen on ${listen}: another program listens there`),
    });
    other.close();
  });

  it("refuses half a TLS configuration", async () => {
    expect(await run(["serve", "--set", "tls.cert=/c.pem"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("tls.cert and tls.key belong together"),
    });
  });
});

describe("trivium import-sessions", () => {
  it("takes sessions over, says what it left out, and does nothing twice", async () => {
    await using folder = await temporaryFolder();
    const project = join(folder.path, "home", ".crabcode", "projects", "p");
    await mkdir(project, { recursive: true });
    const meta = { type: "session_meta", title: "Old", cwd: folder.path };
    const said = { type: "user", uuid: "u", content: "hi" };
    await writeFile(join(project, "old.jsonl"), `${JSON.stringify(meta)}\n${JSON.stringify(said)}\n`);
    const parameters = ["--workspace", folder.path, "--data-dir", join(folder.path, "data")];
    const env = { HOME: join(folder.path, "home") };
    const first = await run(["import-sessions", ...parameters], folder.path, env);
    expect(first).toMatchObject({ exitCode: 0, stderr: "" });
    expect(first.stdout).toMatch(/^old {2}1 messages {2}Old\n1 of 1 sessions imported from .*\.crabcode\n$/);
    await writeFile(join(project, "lost.jsonl"), `${JSON.stringify(said)}\n`);
    const second = await run(["import-sessions", project, "--json", ...parameters], folder.path);
    expect(second.exitCode).toBe(1);
    expect(JSON.parse(second.stdout)).toMatchObject([
      { sessionId: "lost", outcome: "refused", problem: expect.stringContaining("folder") },
      { sessionId: "old", outcome: "present" },
    ]);
    const none = await run(["import-sessions", "nowhere", ...parameters], folder.path);
    expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("nowhere is no folder") });
  });
});
