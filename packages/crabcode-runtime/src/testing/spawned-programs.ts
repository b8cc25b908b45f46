import { spawn } from "node:child_process";
import { TriviumError } from "@trivium/core";
import type { RunProgram } from "../ports/program-port.ts";

/** Runs programs as children of the test, with nothing of its environment but the search path. */
export const runSpawned: RunProgram = ({ argv, workingDirectory, environment, input, signal }) =>
  new Promise((resolve, reject) => {
    const [name, ...args] = argv;
    const child = spawn(name, args, {
      cwd: workingDirectory,
      env: { PATH: process.env["PATH"], HOME: "/nonexistent", ...environment },
      signal,
    });
    const stdout: Uint8Array[] = [];
    const stderr: Uint8Array[] = [];
    child.stdout.on("data", (chunk: Uint8Array) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Uint8Array) => stderr.push(chunk));
    child.on("error", (cause) => {
      const isMissing = "code" in cause && cause.code === "ENOENT";
      reject(isMissing ? new TriviumError("notFound", `no program ${name}`, { cause }) : cause);
    });
    child.on("close", (exitCode) =>
      resolve({
        exitCode: exitCode ?? -1,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString(),
      }),
    );
    // A program that does not read its input is none of a test's business.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
