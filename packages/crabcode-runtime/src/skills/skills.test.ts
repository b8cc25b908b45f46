import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { SkillDocument, SkillPort, SkillRoot } from "../ports/skill-port.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";
import { skillRoots } from "./skill-roots.ts";

describe("skills of a session", () => {
  it("are offered as a tool, to every loop and in plan mode too, when there are any", async () => {
    const library = new Library();
    await using fixture = await create(library, [{ text: "one" }, { text: "two" }, { text: "three" }]);
    await (await fixture.send("x")).all();
    expect(offered(fixture, 0)).toBeUndefined();
    library.add("review", { description: "Reviews code", whenToUse: "before a commit" });
    await fixture.runtime.switchMode("", "plan");
    await (await fixture.send("y")).all();
    expect(offered(fixture, 1)?.description).toBe(
      "Loads the instructions of a skill. Skills:\n- review: Reviews code (before a commit)",
    );
    const agent = { session: { sessionId: "" }, prompt: "p", subagentType: "explore" };
    const { agentId } = await fixture.runtime.spawnAgent(agent);
    await fixture.runtime.waitAgent({ sessionId: "", agentIds: [agentId] });
    expect(offered(fixture, 2)).toBeDefined();
    expect((await fixture.runtime.sessions.listTools("", "")).tools).toContainEqual(
      expect.objectContaining({ name: "Skill", source: "skill", isReadOnly: true }),
    );
  });

  it("are listed among the tools before the first turn, and while the session is not loaded", async () => {
    const library = new Library();
    library.add("review", { description: "Reviews code" });
    await using fixture = await create(library, []);
    await fixture.runtime.sessions.create({ sessionId: "s" });
    const namesOf = async (): Promise<string[]> =>
      (await fixture.runtime.sessions.listTools("s", "")).tools.map(({ name }) => name);
    const loaded = await namesOf();
    expect(loaded).toContain("Skill");
    await fixture.runtime.sessions.close("s");
    expect(await namesOf()).toEqual(loaded);
    expect((await fixture.runtime.sessions.get("s")).state).toBe("stored");
    library.find = () => Promise.reject(new Error("gone"));
    expect(await namesOf()).not.toContain("Skill");
  });

  it("are loaded with what they are to be applied to, without asking", async () => {
    const library = new Library();
    library.add("place", {}, "Do it with $USER_INPUT, and $USER_INPUT again.");
    library.add("end", {}, "Do it.");
    const call = (id: string, skill_name: string, more: object = {}) => ({
      id,
      name: "Skill",
      input: { skill_name, ...more },
    });
    await using fixture = await create(library, [
      {
        tool_calls: [
          call("c1", "place", { user_input: "$& care" }),
          call("c2", "end", { user_input: "now" }),
          call("c3", "end"),
          call("c4", "none"),
        ],
      },
      { text: "done" },
    ]);
    const turn = await (await fixture.send("x")).all();
    expect(turn.map(({ type }) => type)).not.toContain("permission_request");
    const results = turn.filter(({ type }) => type === "tool_result");
    expect(Object.fromEntries(results.map(({ tool_use_id, result }) => [tool_use_id, result]))).toEqual({
      c1: "Do it with $& care, and $& care again.",
      c2: "Do it.\n\nnow",
      c3: "Do it.",
      c4: "Validation error: there is no skill none; there are: place, end",
    });
    const display = results.find(({ tool_use_id }) => tool_use_id === "c1")?.["result_for_display"];
    expect(display).toBe("[Skill: place]");
  });

  it("that a message is about follow it in the history, and still do after a restart", async () => {
    const library = new Library();
    library.add("types", { pathPatterns: ["*.ts"], chainTo: ["style"] }, "Types for $USER_INPUT");
    library.add("style", {}, "Style");
    await using fixture = await create(library, [{ text: "one" }, { text: "two" }, { text: "three" }]);
    await (await fixture.send("nothing special")).all();
    await (await fixture.send("fix a.ts")).all();
    const reminder = [
      "<system-reminder>\nSkills that fit this message. Follow them as far as they help with it.",
      "# Skill types\nTypes for fix a.ts",
      "# Skill style\nStyle\n</system-reminder>",
    ].join("\n\n");
    expect(textsOf(fixture, 1)).toEqual(["nothing special", "one", "fix a.ts", reminder]);
    await fixture.closeRuntime();
    fixture.runtime = fixture.start({ skills: library });
    await (await fixture.send("go on")).all();
    expect(textsOf(fixture, 2)).toEqual(["nothing special", "one", "fix a.ts", reminder, "two", "go on"]);
    const { messages } = await fixture.runtime.sessions.listMessages({ sessionId: "" });
    expect(messages[3]?.message.origin).toBe("skill");
  });

  it("that would become far too long by what they are applied to are not", async () => {
    const library = new Library();
    library.add("many", { pathPatterns: ["*.ts"] }, "$USER_INPUT ".repeat(20_000));
    library.add("next", { pathPatterns: ["*.ts"] }, "Short");
    const message = `a.ts ${"x".repeat(30_000)}`;
    const input = { skill_name: "many", user_input: message };
    const call = { id: "c1", name: "Skill", input };
    await using fixture = await create(library, [{ tool_calls: [call] }, { text: "two" }]);
    const turn = await (await fixture.send(message)).all();
    expect(turn.filter(({ type }) => type === "tool_result")).toMatchObject([
      {
        result: expect.stringMatching(/^Error: with this input the skill has more than \d+ characters$/),
        is_error: true,
      },
    ]);
    // The one that is too long takes no room from the others.
    const reminder = textsOf(fixture, 0)[1] ?? "";
    expect(reminder).toContain("# Skill many\nLoad it with the tool Skill.\n\n# Skill next\nShort");
  });

  it("that cannot be looked for or read cost no turn", async () => {
    const library = new Library();
    library.add("types", { pathPatterns: ["*.ts"] });
    library.isUnreadable = true;
    await using fixture = await create(library, [{ text: "one" }, { text: "two" }]);
    const first = await (await fixture.send("a.ts")).all();
    expect(first.at(-1)).toMatchObject({ type: "turn_complete", reason: "end_turn" });
    library.find = () => Promise.reject(new Error("gone"));
    const second = await (await fixture.send("a.ts")).all();
    expect(second.at(-1)).toMatchObject({ type: "turn_complete", reason: "end_turn" });
    expect(textsOf(fixture, 1)).toEqual(["a.ts", "one", "a.ts"]);
  });
});

describe("skillRoots", () => {
  const folders = (roots: readonly SkillRoot[]): string[] => roots.map(({ folder }) => folder);

  it("go from the user's folders down to the session's, the strongest last", () => {
    const roots = skillRoots({ cwd: "/home/u/a/b", homeFolder: "/home/u", userFolder: "/home/u/.crabcode" });
    expect(folders(roots)).toEqual([
      "/home/u/.claude",
      "/home/u/.crabcode",
      "/home/u/a/.claude",
      "/home/u/a/b/.claude",
      "/home/u/a/.crabcode",
      "/home/u/a/b/.crabcode",
    ]);
    expect(new Set(roots.slice(2).map(({ inside }) => inside))).toEqual(new Set(["/home/u/a"]));
    expect(roots.slice(0, 2).every(({ inside }) => inside === undefined)).toBe(true);
  });

  it("begin with the repository, or the folder itself, outside home", async () => {
    await using folder = await temporaryFolder();
    const cwd = join(folder.path, "repository", "sub");
    await mkdir(cwd, { recursive: true });
    const places = { cwd, homeFolder: "/home/u", userFolder: undefined };
    expect(folders(skillRoots(places)).slice(1)).toEqual([join(cwd, ".claude"), join(cwd, ".crabcode")]);
    await mkdir(join(folder.path, "repository", ".git"));
    expect(folders(skillRoots(places)).slice(1, 3)).toEqual([
      join(folder.path, "repository", ".claude"),
      join(cwd, ".claude"),
    ]);
  });
});

/** Skills in memory, whatever the places. */
class Library implements SkillPort {
  readonly #bodies = new Map<SkillDocument, string>();
  isUnreadable = false;

  add(name: string, more: Partial<SkillDocument>, body = name): void {
    const nothing = { paths: [], pathPatterns: [], bashPatterns: [], importPatterns: [], chainTo: [] };
    this.#bodies.set({ name, description: "", whenToUse: undefined, ...nothing, ...more }, body);
  }

  find: SkillPort["find"] = () => Promise.resolve([...this.#bodies.keys()]);

  load(skill: SkillDocument): Promise<string> {
    if (this.isUnreadable) return Promise.reject(new Error("unreadable"));
    return Promise.resolve(this.#bodies.get(skill) ?? "");
  }
}

function create(skills: SkillPort, script: readonly ScriptEntry[]): Promise<RuntimeFixture> {
  return RuntimeFixture.create({ isDurable: true, script, runtime: { skills } });
}

function offered({ models }: RuntimeFixture, request: number) {
  return models.requests[request]?.tools.find(({ name }) => name === "Skill");
}

/** What a request holds behind the user's context. */
function textsOf({ models }: RuntimeFixture, request: number): string[] {
  return (models.requests[request]?.messages ?? [])
    .slice(1)
    .flatMap(({ content }) => content.map((block) => (block.type === "text" ? block.text : block.type)));
}
