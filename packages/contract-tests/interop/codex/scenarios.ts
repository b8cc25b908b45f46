import type { OutputItem } from "./scripted-model.ts";

/** A conversation, and what the model sees of its calls with the original host. */
export interface Scenario {
  readonly title: string;
  readonly turns: readonly (readonly OutputItem[])[];
  /** By call id, or tool name for what belongs to no call: the texts, one after the other, times blotted out. */
  readonly outputs: readonly (readonly [string, ...string[]])[];
}

/** Runs a program. */
function exec(callId: string, input: string): OutputItem {
  return { type: "custom_tool_call", id: `id_${callId}`, call_id: callId, name: "exec", input };
}

/** Looks at a cell again, or ends it. */
function wait(callId: string, parameters: object): OutputItem {
  const text = JSON.stringify(parameters);
  return { type: "function_call", id: `id_${callId}`, call_id: callId, name: "wait", arguments: text };
}

const goodbye: OutputItem = {
  type: "message",
  id: "id_goodbye",
  role: "assistant",
  content: [{ type: "output_text", text: "goodbye" }],
};

/** What stands above the items of an outcome. */
function head(state: string): string {
  return `Script ${state}\nWall time T seconds\nOutput:\n`;
}

const pixel =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Every scenario. */
export const scenarios: readonly Scenario[] = [
  {
    title: "tools, notifications, stored values and a cell that is waited for",
    turns: [
      [
        exec(
          "first",
          "text('begin'); const r = await tools.exec_command({ cmd: 'printf nested' }); text(r.output); notify('half'); store('n', 41);",
        ),
      ],
      [
        exec(
          "second",
          "// @exec: {\"yield_time_ms\": 200, \"max_output_tokens\": 500}\ntext(load('n') + 1); await new Promise((r) => setTimeout(r, 1500)); text('late');",
        ),
      ],
      [wait("third", { cell_id: "2", yield_time_ms: 5000, max_tokens: 300 })],
      [goodbye],
    ],
    outputs: [
      ["first", head("completed"), "begin", "nested"],
      ["exec", "half"],
      ["second", head("running with cell ID 2"), "42"],
      ["third", head("completed"), "late"],
    ],
  },
  {
    title: "errors, several cells, termination, media and budgets",
    turns: [
      [
        exec("throws", "text('before'); throw new Error('boom')"),
        exec("beside", "const r = await tools.exec_command({ cmd: 'exit 3' }); text(r.exit_code)"),
      ],
      [exec("yields", "text('a'); yield_control(); await new Promise(() => {});")],
      [wait("again", { cell_id: "3", yield_time_ms: 50 })],
      [wait("ends", { cell_id: "3", terminate: true })],
      [wait("missing", { cell_id: "999" })],
      [exec("media", `image('${pixel}'); try { await tools.nope({}) } catch (e) { text(String(e)) }`)],
      [exec("syntax", "this is not js")],
      [
        exec(
          "budget",
          "// @exec: {\"max_output_tokens\": 20}\nfor (let i = 0; i < 200; i++) text('line ' + i)",
        ),
      ],
      [goodbye],
    ],
    outputs: [
      ["throws", head("failed"), "before", "Script error:\nError: boom\n    at exec_main.mjs:1:23"],
      ["beside", head("completed"), "3"],
      ["yields", head("running with cell ID 3"), "a"],
      ["again", head("running with cell ID 3")],
      ["ends", head("terminated")],
      ["missing", head("failed"), "Script error:\nexec cell 999 not found"],
      ["media", head("completed"), pixel, "TypeError: tools.nope is not a function"],
      ["syntax", head("failed"), "Script error:\nSyntaxError: Unexpected identifier 'is'"],
      [
        "budget",
        head("completed"),
        "Warning: truncated output (original token count: 423)\nTotal output lines: 200\n\n" +
          "line 0\nline 1\nline 2\nline 3\nline 4\nline …403 tokens truncated… 195\nline 196\nline 197\nline 198\nline 199",
      ],
    ],
  },
];
