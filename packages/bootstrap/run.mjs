import { spawn } from "node:child_process";

/**
 * Runs a program of this checkout with the workspace's binaries first on the path. Resolves when it ends well.
 *
 * @param {string} command
 * @param {readonly string[]} parameters
 * @param {{ root: string, env?: Record<string, string>, isQuiet?: boolean }} options
 */
export function run(command, parameters, { root, env = {}, isQuiet = false }) {
  return new Promise((resolve, reject) => {
    const output = [];
    const child = spawn(command, parameters, {
      cwd: root,
      env: environment(root, env),
      stdio: isQuiet ? ["ignore", "pipe", "pipe"] : ["ignore", "inherit", "inherit"],
    });
    child.stdout?.on("data", (chunk) => output.push(chunk));
    child.stderr?.on("data", (chunk) => output.push(chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(undefined);
      if (output.length > 0) process.stderr.write(Buffer.concat(output));
      reject(
        new StepFailed(`${command} ${parameters.join(" ")} ended with ${signal ?? `exit code ${code}`}`),
      );
    });
  });
}

/** A step that said on its own what is wrong. */
export class StepFailed extends Error {}

/** The environment of every step: our Node and our tools first, no telemetry. */
export function environment(root, extra = {}) {
  return {
    ...process.env,
    PATH: `${root}/node_modules/.bin:${process.env.PATH ?? ""}`,
    TURBO_TELEMETRY_DISABLED: "1",
    DO_NOT_TRACK: "1",
    ...extra,
  };
}
