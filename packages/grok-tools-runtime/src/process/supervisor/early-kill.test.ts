import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import type { FromHelper, ProgramMessage, RunMessage } from "./message.ts";
import { SupervisedCommand } from "./supervised-command.ts";
import { SupervisedProgram } from "./supervised-program.ts";

const env = { PATH: process.env["PATH"] ?? "" };

it("a command ends that is killed in the turn it is started", async () => {
  await using folder = await temporaryFolder();
  const sent: FromHelper[] = [];
  const message: RunMessage = {
    type: "run",
    commandId: "early",
    argv: ["sleep", "60"],
    workingDirectory: "/",
    env,
    timeoutGraceMs: 0,
    logPath: join(folder.path, "log"),
    headBytes: 0,
    tailBytes: 0,
    maxOutputBytes: 1000,
    keptLogBytes: 1000,
    keepsLeftovers: false,
  };
  const tools = { native: undefined, folder: folder.path, send: (one: FromHelper) => void sent.push(one) };
  await SupervisedCommand.start(message, tools).kill("cancelled", 0);
  expect(sent.find(({ type }) => type === "ended")).toMatchObject({ reason: "cancelled", survivors: [] });
});

it("a program ends that is stopped in the turn it is started", async () => {
  await using folder = await temporaryFolder();
  const sent: FromHelper[] = [];
  const message: ProgramMessage = {
    type: "program",
    programId: 1,
    argv: ["sleep", "60"],
    workingDirectory: "/",
    env,
  };
  const tools = { native: undefined, folder: folder.path, send: (one: FromHelper) => void sent.push(one) };
  const { promise, resolve } = Promise.withResolvers<void>();
  SupervisedProgram.start(message, tools, resolve).stop("cancelled");
  await promise;
  expect(sent.at(-1)).toMatchObject({ type: "program-ended", reason: "cancelled", signal: "SIGKILL" });
});
