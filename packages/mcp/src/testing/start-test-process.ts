import { spawn } from "node:child_process";
import type { ServerProcessEnd, StartServerProcess } from "../server-process.ts";

/** Starts the programs of servers as plain children of this process. For tests only: nothing ends what they start. */
export const startTestProcess: StartServerProcess = async (_name, { command, args = [], env = {} }) => {
  const child = spawn(command, args, { env: { PATH: process.env["PATH"], ...env } });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  let errorOutput = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errorOutput = `${errorOutput}${chunk.toString()}`.slice(-10_000);
  });
  child.stdin.on("error", () => {});
  const ended = new Promise<ServerProcessEnd>((resolve) => {
    child.once("close", (exitCode, signal) => resolve({ exitCode, signal, errorOutput }));
  });
  return {
    output: child.stdout,
    write: (bytes) => new Promise((resolve) => void child.stdin.write(bytes, () => resolve())),
    endInput: () => void child.stdin.end(),
    ended,
    stop() {
      child.kill("SIGKILL");
      return ended;
    },
  };
};
