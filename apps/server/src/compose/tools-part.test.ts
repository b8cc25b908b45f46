import { link, readdir, readFile, writeFile } from "node:fs/promises";
import { randomIds, silentLogger } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { WriteJournal } from "@trivium/grok-tools-runtime/internal";
import { expect, it } from "vitest";
import { readConfig } from "../config/read-config.ts";
import { startTools } from "./tools-part.ts";

it("ends writes in place that a dead server has left in the middle, and records its own", async () => {
  await using stack = new AsyncDisposableStack();
  const { path: workspace } = stack.use(await temporaryFolder());
  const { path: dataDir } = stack.use(await temporaryFolder());
  const path = `${workspace}/a.txt`;
  const [before, after] = ["old content", "new content"].map((text) => Buffer.from(text));
  if (before === undefined || after === undefined) throw new Error("there are two contents");
  await new WriteJournal({ dataDir, ids: randomIds }).begin({ path, before, after });
  await writeFile(path, "nld content");
  await link(path, `${workspace}/b.txt`);
  const { values } = readConfig({ flags: [], env: {}, folder: workspace });
  const part = { stack, logger: silentLogger, env: {}, dataDir };
  const { runtime } = await startTools({ ...values, workspace, services: ["grok-tools"] }, part, undefined);
  expect(await readFile(path, "utf8")).toBe("new content");
  const records = `${dataDir}/tools/writes`;
  expect(await readdir(records)).toEqual([]);

  const tools = ["GrokBuild:read_file", "GrokBuild:search_replace"];
  const session = await runtime.openSession({ id: "s", tools });
  const edit = { file_path: path, old_string: "content", new_string: "text" };
  expect((await session.execute("search_replace", edit)).result).toMatchObject({ ok: true });
  expect(await readFile(`${workspace}/b.txt`, "utf8")).toBe("new text");
  expect(await readdir(records)).toEqual([]);
});
