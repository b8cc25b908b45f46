import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { silentLogger, systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { McpServers } from "./mcp-servers.ts";
import { startTestProcess } from "./testing/start-test-process.ts";

const never = new AbortController().signal;
const require = createRequire(import.meta.url);
const packageFile = require.resolve("@modelcontextprotocol/server-filesystem/package.json");
const program = join(dirname(packageFile), "dist", "index.js");

it("works with a server that others have made", async () => {
  await using folder = await temporaryFolder();
  const shared = join(await realpath(folder.path), "shared");
  await mkdir(shared);
  await writeFile(join(shared, "greeting.txt"), "hello from a file");
  await using servers = new McpServers({
    servers: { files: { command: process.execPath, args: [program, shared] } },
    startProcess: startTestProcess,
    clock: systemClock,
    logger: silentLogger,
  });
  servers.start();
  await servers.settled(20_000, never);
  expect(servers.status()).toMatchObject([{ name: "files", state: "ready" }]);
  const tools = servers.tools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["read_text_file", "write_file"]));
  expect(tools.find(({ name }) => name === "read_text_file")).toMatchObject({
    hints: { readOnly: true },
    inputSchema: { type: "object", required: ["path"] },
  });

  const call = (name: string, input: Record<string, unknown>): ReturnType<McpServers["callTool"]> =>
    servers.callTool({ server: "files", name }, input, never);
  expect(await call("read_text_file", { path: join(shared, "greeting.txt") })).toMatchObject({
    kind: "result",
    isError: false,
    content: [{ kind: "text", text: "hello from a file" }],
  });
  expect(await call("write_file", { path: join(shared, "new.txt"), content: "written" })).toMatchObject({
    kind: "result",
    isError: false,
  });
  expect(await readFile(join(shared, "new.txt"), "utf8")).toBe("written");
  const refused = await call("read_text_file", { path: "/etc/hostname" });
  expect(refused).toMatchObject({ kind: "result", isError: true });
}, 30_000);
