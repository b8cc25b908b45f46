import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createCommandRunner, type ProcessRunner } from "./create-command-runner.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let runner: ProcessRunner;
beforeAll(async () => {
  folder = await temporaryFolder();
  runner = await createCommandRunner({ dataFolder: folder.path });
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

it.each([
  ["no frame at all", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
  ["a frame that is no JSON", frame("hello")],
  ["a helper that nobody started", frame('{"type":"hello","token":"guess","pid":1}')],
  ["a huge first frame", Buffer.from([255, 255, 255, 0, 0, 0, 0, 0])],
])("turns a stranger away who sends %s", async (_title, bytes) => {
  const socket = connect(join(runtimeFolder(), "helpers"));
  socket.write(bytes);
  socket.resume();
  await once(socket, "close");
  const command = await runner.start({
    argv: ["true"],
    workingDirectory: folder.path,
    env: { PATH: process.env["PATH"] ?? "" },
    logPath: join(folder.path, "log"),
    headBytes: 0,
    tailBytes: 0,
  });
  expect(await command.ended).toMatchObject({ reason: "exited", exitCode: 0 });
});

it("shows its socket to nobody else", () => {
  expect(statSync(runtimeFolder()).mode & 0o777).toBe(0o700);
});

function runtimeFolder(): string {
  const [server = ""] = readdirSync(folder.path).filter((name) => name !== "log");
  const record = readFileSync(join(folder.path, server, "server.json"), "utf8");
  return (JSON.parse(record) as { runtimeFolder: string }).runtimeFolder;
}

function frame(json: string): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(json.length, 0);
  return Buffer.concat([header, Buffer.from(json)]);
}
