import { readFileSync } from "node:fs";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { temporaryFolder } from "@trivium/core/testing";
import { FinalizeConfigValidationDetailsSchema, GrokToolsService } from "@trivium/proto/grok-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectationKeys } from "./grok-tools/check-answer.ts";
import type { ToolsClient } from "./grok-tools/finalize-case.ts";
import { replayCase } from "./grok-tools/replay-case.ts";
import { registeredIdsOf, toolsetOf } from "./grok-tools/toolset.ts";
import { unmetRequirements } from "./grok-tools/unmet-requirements.ts";
import {
  caseKeys,
  type FailureMode,
  hasFailures,
  setupKeys,
  stepKeys,
  type Vector,
} from "./grok-tools/vector.ts";
import { vectorCorrections } from "./grok-tools/vector-corrections.ts";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";
import { statusOf } from "./take.ts";

const vectors: readonly Vector[] = ["grok-tools-core.json", "grok-tools-more.json"].flatMap((name) =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), "utf8")),
);

let home: Awaited<ReturnType<typeof temporaryFolder>>;
let server: ServerProcess;
let client: ToolsClient;
/** Tools this server knows, whatever a session makes of them. */
let registered: ReadonlySet<string>;

beforeAll(async () => {
  // An empty home: no settings, no skills, no rules of git.
  home = await temporaryFolder();
  server = await startServerProcess({ env: { HOME: home.path } });
  client = createClient(GrokToolsService, createGrpcTransport({ baseUrl: server.url }));
  const { tools } = await client.listTools({ includeDisabled: true }, sessionHeader("list"));
  registered = new Set(tools.map(({ namespace, name }) => `${namespace}:${name}`));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

describe("cases of the tools contract", () => {
  it.concurrent.for(vectors)("$id", async (vector, context) => {
    const reason = skipReasonOf(vector);
    if (reason !== undefined) return context.skip(reason);
    expect((await replay(vector, "error")).differences).toEqual([]);
  });
});

describe("cases of the tools contract, with logical failures as outputs", () => {
  it.concurrent.for(vectors.filter(hasFailures))("$id", async (vector, context) => {
    const reason = skipReasonOf(vector);
    if (reason !== undefined) return context.skip(reason);
    const [asErrors, asOutputs] = [await replay(vector, "error"), await replay(vector, "output")];
    expect(asOutputs.differences).toEqual([]);
    expect(asOutputs.failures).toEqual(asErrors.failures);
  });
});

describe.each([
  ["Connect", (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  ["gRPC-Web", (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
])("one case of every tool over %s", (_name, createTransport) => {
  it.concurrent.for(oneOfEveryTool())("$id", async (vector, context) => {
    const reason = skipReasonOf(vector);
    if (reason !== undefined) return context.skip(reason);
    const over = createClient(GrokToolsService, createTransport(server.url));
    expect((await replay(vector, "error", over)).differences).toEqual([]);
  });
});

describe("the cases that are left out", () => {
  it("need a tool that finalize does not know either", async ({ annotate }) => {
    const missing = new Map<string, number>();
    for (const vector of vectors)
      for (const id of missingToolsOf(vector)) missing.set(id, (missing.get(id) ?? 0) + 1);
    for (const id of missing.keys()) {
      const refusal = ConnectError.from(
        await statusOf(client.finalizeToolConfigRequest({ tools: [{ id }] }, sessionHeader(`refused ${id}`))),
      );
      expect(refusal.code).toBe(Code.InvalidArgument);
      const [details] = refusal.findDetails(FinalizeConfigValidationDetailsSchema);
      expect(details?.violations).toEqual([
        expect.objectContaining({ toolId: id, category: "tool_not_found" }),
      ]);
    }
    const counted = [...missing].map(([id, count]) => `${id} ${count}`).join(", ");
    const skipped = vectors.filter((vector) => skipReasonOf(vector) !== undefined).length;
    await annotate(`${skipped} of ${vectors.length} cases are left out; by missing tool: ${counted}`);
  });
});

describe("the files of cases", () => {
  it("have unique ids", () => {
    expect(new Set(vectors.map(({ id }) => id)).size).toBe(vectors.length);
  });

  it("hold only what the runner reads", () => {
    const steps = vectors.flatMap((vector) => vector.steps);
    const expectations = steps.flatMap((step) => [step.expect, step.ours ?? {}]);
    const unknown = [
      ...keysBeyond(caseKeys, vectors),
      ...keysBeyond(
        setupKeys,
        vectors.map(({ setup }) => setup ?? {}),
      ),
      ...keysBeyond(stepKeys, steps),
      ...keysBeyond(expectationKeys, expectations),
    ];
    expect(unknown).toEqual([]);
  });

  it("say why they are corrected", () => {
    const whyOf = new Map(vectors.map(({ id, why }) => [id, why]));
    for (const [id, reason] of Object.entries(vectorCorrections)) {
      expect(whyOf.get(id), id).toBeDefined();
      expect(reason).not.toBe("");
    }
  });
});

function missingToolsOf(vector: Vector): string[] {
  return registeredIdsOf(toolsetOf(vector)).filter((id) => !registered.has(id));
}

/** Why a case cannot run here: tools come first, so that a tool that is added brings its cases with it. */
function skipReasonOf(vector: Vector): string | undefined {
  const missing = missingToolsOf(vector);
  if (missing.length > 0) return `not registered: ${missing.join(", ")}`;
  const unmet = unmetRequirements(vector);
  return unmet.length > 0 ? `this machine lacks: ${unmet.join(", ")}` : undefined;
}

function keysBeyond(known: Iterable<string>, objects: readonly object[]): string[] {
  const all = new Set(known);
  return objects.flatMap((object) => Object.keys(object)).filter((key) => !all.has(key));
}

/** The shortest case of each tool: what protocols do differently does not depend on the rest. */
function oneOfEveryTool(): Vector[] {
  const chosen = new Map<string, Vector>();
  for (const vector of vectors) {
    const other = chosen.get(vector.tool);
    if (other === undefined || vector.steps.length < other.steps.length) chosen.set(vector.tool, vector);
  }
  return [...chosen.values()];
}

let count = 0;

async function replay(
  vector: Vector,
  mode: FailureMode,
  over: ToolsClient = client,
): ReturnType<typeof replayCase> {
  count += 1;
  return await replayCase(vector, { client: over, workspace: server.workspace, name: `case-${count}`, mode });
}

function sessionHeader(name: string): { headers: Record<string, string> } {
  return { headers: { "x-trivium-session": name } };
}
