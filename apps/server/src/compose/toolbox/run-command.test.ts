import { temporaryFolder } from "@trivium/core/testing";
import { createCommandRunner } from "@trivium/grok-tools-runtime";
import { expect, it } from "vitest";
import { createRunCommand } from "./run-command.ts";

it("gives a command its input, and an empty one when there is none", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const runner = stack.use(await createCommandRunner({ dataFolder: `${folder.path}/processes` }));
  const { run } = stack.use(
    createRunCommand({
      runner,
      policy: { inherit: "core", ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] },
      secretVariables: [],
      server: process.env,
      workingDirectory: folder.path,
      logFolder: folder.path,
    }),
  );
  const request = {
    command: "cat; echo end $CRABCODE_HOOK_EVENT $CRABCODE_HOOK_TOOL_USE_ID",
    environment: { CRABCODE_HOOK_EVENT: "pre_tool_call", CRABCODE_HOOK_TOOL_USE_ID: "c1" },
    timeoutMs: 60_000,
    maxOutputChars: 2_000_000,
    signal: new AbortController().signal,
  };
  // More than a pipe holds: the command may be slower than its writer.
  const input = '{"text":"é"}\n'.repeat(20_000);
  expect(await run({ ...request, input })).toMatchObject({
    kind: "ok",
    exitCode: 0,
    stdout: `${input}end pre_tool_call c1\n`,
  });
  expect(await run(request)).toMatchObject({ stdout: "end pre_tool_call c1\n" });
  // It does not have to be read.
  expect(await run({ ...request, input, command: "exit 3" })).toMatchObject({ kind: "ok", exitCode: 3 });
});
