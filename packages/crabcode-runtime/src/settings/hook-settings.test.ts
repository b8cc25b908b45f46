import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Logger, silentLogger } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { hookSettings } from "./hook-settings.ts";
import { readSettings } from "./read-settings.ts";

const entry = { tools: undefined, timeoutMs: 60_000, continuesOnError: false };

function read(hooks: unknown) {
  const { entries, problems } = hookSettings.parse(hooks);
  return { entries: Object.fromEntries(entries), problems };
}

describe("hookSettings", () => {
  it.each([
    "user_prompt_submit",
    "userPromptSubmit",
    "UserPromptSubmit",
    "user-prompt-submit",
    "user-prompt-submit-hook",
  ])("reads %s as the event of prompts", (key) => {
    const { entries, problems } = read({ [key]: [{ command: "a" }] });
    expect(entries).toEqual({ user_prompt_submit: [{ ...entry, command: "a" }] });
    expect(problems).toEqual([]);
  });

  it.each([
    ["pre_tool_call", "pre_tool_call"],
    ["preToolCall", "pre_tool_call"],
    ["PreToolCall", "pre_tool_call"],
    ["pre-tool-call", "pre_tool_call"],
    ["pre_tool_use", "pre_tool_call"],
    ["preToolUse", "pre_tool_call"],
    ["PreToolUse", "pre_tool_call"],
    ["pre-tool-use", "pre_tool_call"],
    ["PostToolUse", "post_tool_call"],
    ["post_tool_call", "post_tool_call"],
    ["pre_compact", "pre_compact"],
    ["PostCompact", "post_compact"],
  ])("reads %s as %s", (key, event) => {
    expect(Object.keys(read({ [key]: [{ command: "a" }] }).entries)).toEqual([event]);
  });

  it("keeps the order of the settings over all spellings of an event", () => {
    const { entries } = read({
      preToolUse: [{ command: "1" }, { cmd: "2" }],
      pre_tool_call: [{ run: "3" }],
      "pre-tool-use": [
        {
          hooks: [
            { type: "command", command: "4" },
            { type: "command", command: "5" },
          ],
        },
      ],
    });
    expect(entries["pre_tool_call"]?.map(({ command }) => command)).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("reads matchers, time limits and what goes on after an error", () => {
    const { entries } = read({
      pre_tool_call: [
        { command: "a", matcher: "Bash", timeout: 5, continue_on_error: true },
        { command: "b", matcher: ["Read", "Gr*"], continueOnError: true },
        { command: "c", matcher: { tool_name: "Edit" } },
        { command: "d", matcher: { tool: ["Write"] } },
        { matcher: "Edit|Write", hooks: [{ type: "command", command: "e", timeout: 1 }] },
        { command: "f", matcher: "" },
        { command: "g", timeout: -1 },
      ],
    });
    expect(entries["pre_tool_call"]).toEqual([
      { command: "a", tools: ["Bash"], timeoutMs: 5000, continuesOnError: true },
      { command: "b", tools: ["Read", "Gr*"], timeoutMs: 60_000, continuesOnError: true },
      { ...entry, command: "c", tools: ["Edit"] },
      { ...entry, command: "d", tools: ["Write"] },
      { ...entry, command: "e", tools: ["Edit", "Write"], timeoutMs: 1000 },
      { ...entry, command: "f" },
      { ...entry, command: "g" },
    ]);
  });

  it("leaves out what cannot be used, and says so", () => {
    const { entries, problems } = read({
      PreToolUse: [{ command: " " }, { matcher: 5, command: "a" }, "x", { command: "good" }],
      PreToolUsed: [],
      pre_compact: { command: "a" },
    });
    expect(entries).toEqual({ pre_tool_call: [{ ...entry, command: "good" }] });
    expect(problems).toEqual([
      "hooks.PreToolUse[0] has no command that can be run",
      "hooks.PreToolUse[1] has no command that can be run",
      "hooks.PreToolUse[2] has no command that can be run",
      "hooks.PreToolUsed is no event",
      "hooks.pre_compact is no list",
    ]);
    expect(read(7).problems).toEqual(["hooks is no object"]);
    expect(read(undefined).problems).toEqual([]);
  });

  it("takes hooks of a project only when its folder is trusted, behind those of the user", async () => {
    await using folder = await temporaryFolder();
    const user = join(folder.path, "user");
    const cwd = join(folder.path, "work");
    const write = async (file: string, content: unknown): Promise<void> => {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, JSON.stringify(content));
    };
    const commands = (): string[] =>
      [...readSettings({ userFolder: user }, cwd, silentLogger).hooks.entries.values()]
        .flat()
        .map(({ command }) => command);
    await write(join(cwd, ".crabcode/settings.json"), { hooks: { PreToolUse: [{ command: "project" }] } });
    await write(join(user, "settings.json"), { hooks: { PreToolUse: [{ command: "user" }] } });
    expect(commands()).toEqual(["user"]);
    await write(join(user, "settings.json"), {
      hooks: { PreToolUse: [{ command: "user" }] },
      trusted_directories: [folder.path],
    });
    expect(commands()).toEqual(["user", "project"]);
  });

  it("has what it left out in the log of the session", () => {
    const warnings: unknown[] = [];
    const logger: Logger = { ...silentLogger, warn: (fields) => void warnings.push(fields) };
    readSettings({ base: { hooks: { PreToolUsed: [] } } }, "/nonexistent", logger);
    expect(warnings).toEqual([{ problems: ["hooks.PreToolUsed is no event"] }]);
  });
});
