import { mkdir, writeFile } from "node:fs/promises";
import { silentLogger, systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { parseDefinition } from "./parse-definition.ts";
import { SubagentTypes } from "./subagent-types.ts";

describe("parseDefinition", () => {
  it("reads the keys it knows and names the others", () => {
    const text = `---
name: critic
description: Finds faults.
tools: Read, Agent(explore, plan), mcp
disallowedTools: [Bash]
capabilityMode: readOnly
model: inherit
maxTurns: "7"
isolation: worktree
background: yes
agentsMd: false
skills: review
color: red
---

Be strict.
`;
    expect(parseDefinition(text, "x.md")).toEqual({
      definition: {
        name: "critic",
        description: "Finds faults.",
        body: "Be strict.",
        tools: ["Read", "Task", "mcp"],
        spawnTypes: ["explore", "plan"],
        disallowedTools: ["Bash"],
        capabilityMode: "read-only",
        model: undefined,
        maxTurns: 7,
        isolation: "worktree",
        isBackground: true,
        wantsInstructions: false,
        skills: ["review"],
      },
      ignoredKeys: ["color"],
    });
  });

  it.each([
    ["no frontmatter", "text", "frontmatter"],
    ["broken YAML", "---\na: [\n---\n", "not YAML"],
    ["a list", "---\n- a\n---\n", "not a map"],
    ["a mode that is none", "---\ncapabilityMode: reed-only\n---\n", "reed-only is not one of"],
    ["aliases", "---\na: &x 1\nb: *x\n---\n", "not YAML"],
  ])("says why %s cannot be used", (_what, text, message) => {
    expect(parseDefinition(text, "a.md")).toContain(message);
  });
});

describe("SubagentTypes", () => {
  it("takes the nearest of a name; only the project replaces a built-in type", async () => {
    await using folder = await temporaryFolder();
    const { path } = folder;
    const write = async (place: string, name: string, description: string): Promise<void> => {
      await mkdir(`${path}/${place}`, { recursive: true });
      await writeFile(`${path}/${place}/${name}.md`, `---\ndescription: ${description}\n---\nBody.`);
    };
    await mkdir(`${path}/repo/.git`, { recursive: true });
    await write("repo/sub/.claude/agents", "critic", "nearest");
    await write("repo/.grok/agents", "critic", "farther");
    await write("repo/.grok/agents", "explore", "of the project");
    await write("home/.grok/agents", "plan", "of the user");
    await write("home/.claude/agents", "own", "of the user");
    await write(".grok/agents", "never", "not looked at");
    const types = new SubagentTypes({
      readsDefinitions: true,
      directory: `${path}/repo/sub`,
      homeDirectory: `${path}/home`,
      workspaceRoots: undefined,
      timeoutMs: 10_000,
      clock: systemClock,
      logger: silentLogger,
    });
    expect(await types.load()).toBe(true);
    const found = Object.fromEntries(types.definitions.map(({ name, description }) => [name, description]));
    expect(found).toMatchObject({ critic: "nearest", explore: "of the project", own: "of the user" });
    expect(found["plan"]).not.toBe("of the user");
    expect(found).not.toHaveProperty("never");
    await expect(types.find("own", ["plan"])).rejects.toMatchObject({
      message: "this subagent may not start the type own; there are: plan",
    });
  });
});
