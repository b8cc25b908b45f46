import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "@trivium/core/testing";
import { serverProgram } from "../../src/server/server-process.ts";

const ORIGINAL_PACKAGE = "@openai/codex@0.171.0-linux-x64";
const ORIGINAL_BINARY = "codex-code-mode-host";

/** A host process. */
export interface Host extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** How to start a host. */
export interface HostKind {
  readonly name: "ours" | "original";
  start(): Promise<Host>;
}

/** Ours: code mode alone, without a line in the log for each call, which the original does not write either. */
export const ours: HostKind = { name: "ours", start: startOurs };

/** The original, from its binary. */
export function original(binary: string): HostKind {
  return { name: "original", start: () => startOriginal(binary) };
}

/** Fetches the original's package into a folder of its own, for this run only. */
export async function fetchOriginal(): Promise<AsyncDisposable & { readonly binary: string }> {
  const folder = await temporaryFolder();
  const run = promisify(execFile);
  await run("npm", ["pack", ORIGINAL_PACKAGE, "--silent"], { cwd: folder.path });
  const [archive = ""] = await readdir(folder.path);
  await run("tar", ["-xzf", archive], { cwd: folder.path });
  const files = await readdir(folder.path, { recursive: true });
  const binary = files.find((file) => file.endsWith(`/${ORIGINAL_BINARY}`));
  if (binary === undefined) throw new Error(`${ORIGINAL_PACKAGE} has no ${ORIGINAL_BINARY}`);
  return { binary: join(folder.path, binary), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

async function startOurs(): Promise<Host> {
  const parameters = ["code-mode-host", "--listen", "grpc://127.0.0.1:0", "--set", "log.level=warn"];
  const child = spawn(process.execPath, [...serverProgram, ...parameters], {
    stdio: ["ignore", "pipe", "inherit"],
    // Without the variables of the bench, which the host would take for settings.
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"] },
  });
  const ended = once(child, "exit").then(() => {
    throw new Error("the host ended before it listened");
  });
  const [announced]: unknown[] = await Promise.race([once(child.stdout, "data"), ended]);
  ended.catch(() => {});
  child.stdout.resume();
  return {
    url: String(announced).trim(),
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function startOriginal(binary: string): Promise<Host> {
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(binary, ["--listen", `grpc://${address}`], { stdio: ["ignore", "pipe", "ignore"] });
  child.stdout.resume();
  await once(child, "spawn");
  await listening(address, () => child.exitCode !== null);
  return {
    url: `http://${address}`,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("a server without a port");
  return address.port;
}

async function listening(address: string, hasEnded: () => boolean): Promise<void> {
  const [host = "", port = ""] = address.split(":");
  while (!hasEnded()) {
    const socket = connect(Number(port), host);
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
  }
  throw new Error("the original ended before it listened");
}
