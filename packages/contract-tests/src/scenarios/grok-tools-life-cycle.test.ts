import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { GrokToolsService } from "@trivium/proto/grok-tools";
import { expect } from "vitest";
import { useServer, verifies } from "../verifies.ts";

useServer();

type Tools = Client<typeof GrokToolsService>;
type Call = { readonly headers: Record<string, string> };
type Legal = "legal" | "not legal";

const read = { toolName: "GrokBuild:read_file" };
const reader = { tools: [{ id: "GrokBuild:read_file" }] };

/** Every method with its two states. The order matters: what changes something comes late. */
const methods: readonly (readonly [
  name: string,
  open: Legal,
  finalized: Legal,
  call: (tools: Tools, call: Call) => unknown,
])[] = [
  ["ExecuteTool", "not legal", "legal", (tools, call) => tools.executeTool({ toolName: "read_file" }, call)],
  [
    "ExecuteToolStream",
    "not legal",
    "legal",
    async (tools, call) => {
      for await (const _ of tools.executeToolStream({ toolName: "read_file" }, call));
    },
  ],
  ["ListTools", "legal", "legal", (tools, call) => tools.listTools({}, call)],
  ["GetToolInfo", "legal", "legal", (tools, call) => tools.getToolInfo(read, call)],
  ["GetToolState", "not legal", "legal", (tools, call) => tools.getToolState({}, call)],
  ["EnableTool", "legal", "legal", (tools, call) => tools.enableTool(read, call)],
  ["DisableTool", "legal", "legal", (tools, call) => tools.disableTool(read, call)],
  [
    "SetToolOptions",
    "legal",
    "legal",
    (tools, call) => tools.setToolOptions({ ...read, optionsJson: "{}" }, call),
  ],
  ["GetToolOptions", "legal", "legal", (tools, call) => tools.getToolOptions(read, call)],
  ["ResetToolOptions", "legal", "legal", (tools, call) => tools.resetToolOptions(read, call)],
  [
    "SetToolOverride",
    "legal",
    "not legal",
    (tools, call) => tools.setToolOverride({ ...read, toolNameForModel: "reader" }, call),
  ],
  ["ClearToolOverride", "legal", "not legal", (tools, call) => tools.clearToolOverride(read, call)],
  ["SetSystemReminders", "legal", "legal", (tools, call) => tools.setSystemReminders({}, call)],
  ["GetSystemReminders", "legal", "legal", (tools, call) => tools.getSystemReminders({}, call)],
  ["SetTruncationConfig", "legal", "legal", (tools, call) => tools.setTruncationConfig({ config: {} }, call)],
  ["GetTruncationConfig", "legal", "legal", (tools, call) => tools.getTruncationConfig({}, call)],
  ["GetSystemPrompt", "legal", "legal", (tools, call) => tools.getSystemPrompt({}, call)],
  ["GetAgentInfo", "legal", "legal", (tools, call) => tools.getAgentInfo({}, call)],
  ["GetCompletionState", "legal", "legal", (tools, call) => tools.getCompletionState({}, call)],
  ["ResetCompletionState", "legal", "legal", (tools, call) => tools.resetCompletionState({}, call)],
  ["FinalizeAgent", "legal", "legal", (tools, call) => tools.finalizeAgent({}, call)],
  // Last, since it ends the first state.
  [
    "FinalizeToolConfigRequest",
    "legal",
    "not legal",
    (tools, call) => tools.finalizeToolConfigRequest(reader, call),
  ],
];

/** What each method does now: nothing in the way, or the status of a method that is not for this state. */
async function states(tools: Tools, call: Call): Promise<[string, Legal][]> {
  const found: [string, Legal][] = [];
  for (const [name, , , run] of methods) {
    const code = await Promise.resolve(run(tools, call)).then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown).code,
    );
    if (code !== undefined && code !== Code.FailedPrecondition) throw new Error(`${name}: ${Code[code]}`);
    found.push([name, code === undefined ? "legal" : "not legal"]);
  }
  return found;
}

verifies("life-cycle:every-method", async ({ transport, uniqueName }) => {
  const tools = createClient(GrokToolsService, transport);
  const call = { headers: { "x-trivium-session": uniqueName } };
  expect(await states(tools, call)).toEqual(methods.map(([name, open]) => [name, open]));
  // The last method of the first round has finalized the session.
  expect(await states(tools, call)).toEqual(methods.map(([name, , finalized]) => [name, finalized]));
});
