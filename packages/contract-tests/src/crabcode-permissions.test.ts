import { estimateTokens } from "@trivium/crabcode-runtime/internal";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mismatchOf } from "./crabcode/matcher.ts";
import { observeCall } from "./crabcode/observed-call.ts";
import { type Json, readVectors } from "./crabcode/vector.ts";
import { startVectorServer, type VectorServer } from "./crabcode/vector-server.ts";

const { permission_cases: cases, permission_keys: keys, estimator } = readVectors();

/** How to make a model ask for a key. `rule` brings about a question where there would be none. */
const callsByKey: Readonly<Record<string, { tool: string; input: Json; rule?: Json }>> = {
  Write: { tool: "Write", input: { file_path: "granted" } },
  // The rules of the case are for `rm` with arguments.
  "Bash(rm)": { tool: "Bash", input: { command: "rm" } },
  "Bash(git status)": { tool: "Bash", input: { command: "git status" } },
  Read: { tool: "Read", input: { file_path: "granted" }, rule: { tool: "Read", path: "granted" } },
  "Read(outside:/etc)": { tool: "Read", input: { file_path: "/etc/passwd" } },
};

/** Tools that no session of this server has: such a call fails before anybody thinks of permissions. */
const missingTools: ReadonlySet<string> = new Set(["Browser", "mcp__gh__create_issue", "WebSearch"]);

let server: VectorServer;
const servers = new AsyncDisposableStack();
beforeAll(async () => {
  server = servers.use(await startVectorServer());
});
afterAll(() => servers.disposeAsync());

describe("permissions of a call", () => {
  it.concurrent.for(cases)("$name", { timeout: 60_000 }, async (one) => {
    const granted = one.granted.map((key) => {
      const call = callsByKey[key];
      if (call === undefined) throw new Error(`no call asks for ${key}`);
      return call;
    });
    const rules = granted.flatMap(({ rule }) => (rule === undefined ? [] : [rule]));
    const { outcome } = await observeCall(server, {
      name: one.name.replaceAll(/\W+/g, "-"),
      tool: one.tool,
      input: one.input,
      permissions: { ...one.settings, ...(rules.length > 0 && { ask: rules }) },
      isPlanMode: one.mode === "plan",
      granted,
    });
    expect(outcome).toBe(missingTools.has(one.tool) ? "unknown tool" : one.expect);
  });
});

describe("what always would grant", () => {
  it.concurrent.for(keys.map((one, index) => ({ ...one, index })))(
    "$tool $input",
    { timeout: 60_000 },
    async ({ tool, input, key, index }) => {
      const seen = await observeCall(server, { name: `key-${index}`, tool, input });
      if (missingTools.has(tool)) expect(seen.outcome).toBe("unknown tool");
      else expect(mismatchOf(key, seen.key, new Map())).toBeUndefined();
    },
  );
});

describe("the estimate of tokens", () => {
  it.for(estimator)("of $text_repeat is $tokens", ({ text_repeat: [text, count], tokens }) => {
    expect(estimateTokens(text.repeat(count))).toBe(tokens);
  });
});
