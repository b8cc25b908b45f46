import { writeFile } from "node:fs/promises";
import { join } from "node:path";
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

  it("refuses to serve others without a token", async () => {
    expect(await run(["serve", "--listen", "0.0.0.0:0"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/listen is 0\.0\.0\.0:0, which others can reach, and there is no token/),
    });
  });

  it("refuses half a TLS configuration", async () => {
    expect(await run(["serve", "--set", "tls.cert=/c.pem"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("tls.cert and tls.key belong together"),
    });
  });
});
