import { silentLogger, TriviumError } from "@trivium/core";
import { expect, it } from "vitest";
import { readConfig } from "../../config/read-config.ts";
import type { Part } from "../part.ts";
import type { ToolsPart } from "../tools-part.ts";
import { openMcp } from "./open-mcp.ts";

type Spec = Parameters<ToolsPart["processes"]["programs"]["run"]>[0];

it("starts servers in the session's folder, with a few variables and their own", async () => {
  const specs: Spec[] = [];
  const run = async (spec: Spec): Promise<never> => {
    specs.push(spec);
    throw new TriviumError("notFound", "no program here");
  };
  const { values } = readConfig({ flags: [], env: {}, folder: "/" });
  await using stack = new AsyncDisposableStack();
  const env = { PATH: "/bin", HOME: "/home/me", LANG: "C", FAVOURITE: "ed", API_TOKEN: "secret" };
  const part: Part = { stack, logger: silentLogger, env, dataDir: "/data" };
  const open = openMcp(
    { ...values, "tools.environment": { ...values["tools.environment"], inherit: "all" } },
    part,
    { processes: { programs: { run } } } as unknown as ToolsPart,
  );
  const times = { startupTimeoutMs: 1000, callTimeoutMs: 1000 };
  const port = stack.use(
    open({
      sessionId: "s",
      cwd: "/work",
      servers: { a: { command: "server", args: ["-x"], env: { OWN_KEY: "k" }, ...times } },
    }),
  );
  port.start();
  await port.settled(1000, new AbortController().signal);
  expect(specs).toMatchObject([{ argv: ["server", "-x"], workingDirectory: "/work", input: "pipe" }]);
  const given = specs[0]?.env ?? {};
  expect(given).toMatchObject({ PATH: "/bin", HOME: "/home/me", LANG: "C", OWN_KEY: "k" });
  expect(Object.keys(given)).not.toContain("FAVOURITE");
  expect(Object.values(given)).not.toContain("secret");
});
