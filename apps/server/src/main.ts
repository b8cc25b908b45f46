#!/usr/bin/env node
import { runCli } from "./cli.ts";
import { commandLine } from "./command-line.ts";
import { standardPipes } from "./standard-pipes.ts";

const shutdown = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    // The second one means now.
    if (shutdown.signal.aborted) process.exit(1);
    shutdown.abort(new Error(signal));
  });
}

// Whoever started the server with a channel and is gone would have ended it.
process.once("disconnect", () => shutdown.abort(new Error("the parent process is gone")));

runCli(commandLine(process.argv), {
  env: process.env,
  folder: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  pipes: standardPipes,
  signal: shutdown.signal,
}).then(
  (exitCode) => process.exit(exitCode),
  (thrown: unknown) => {
    console.error("trivium:", thrown);
    process.exit(1);
  },
);
