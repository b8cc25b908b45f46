import { describe, expect, it } from "vitest";
import { expandSkills } from "./expand-skills.ts";
import { PathCondition } from "./path-condition.ts";
import type { Skill } from "./skill.ts";
import { skillFieldsOf } from "./skill-fields.ts";
import { listSkills } from "./skill-listing.ts";
import { SkillRegistry } from "./skill-registry.ts";

describe("listSkills", () => {
  const callName = ({ name }: Skill): string => name;
  const texts = (skills: Skill[], maxBytes: number): string[] =>
    listSkills(skills, { callName, maxBytes }).map(({ description }) => description);

  it("shortens long descriptions first, and leaves all out when little would remain of them", () => {
    const skills = [skill("a", { description: "short" }), skill("b", { description: "é".repeat(100) })];
    expect(texts(skills, 1000)).toEqual(["short", "é".repeat(100)]);
    expect(texts(skills, 47)).toEqual(["short", `${"é".repeat(18)}…`]);
    expect(texts(skills, 25)).toEqual(["short", ""].map(() => ""));
  });

  it("gives one skill at most 400 bytes", () => {
    const [text = ""] = texts(
      [skill("a", { description: "x".repeat(300), whenToUse: "y".repeat(300) })],
      10_000,
    );
    expect(Buffer.byteLength(text)).toBe(400);
  });
});

describe("SkillRegistry", () => {
  it("knows a bare name only while one skill has it", () => {
    const registry = new SkillRegistry();
    registry.add([skill("a"), skill("a", { scope: "user", path: "/u/a/SKILL.md" })]);
    expect(registry.find("a")).toMatchObject({ kind: "ambiguous" });
    expect(registry.find("user:a")).toMatchObject({ kind: "found", skill: { path: "/u/a/SKILL.md" } });
    expect(registry.find("A")).toEqual({ kind: "missing" });
    expect(registry.available.map((one) => registry.callName(one))).toEqual(["local:a", "user:a"]);
  });

  it("hides what models may not load, and what waits for a file", () => {
    const registry = new SkillRegistry();
    const condition = PathCondition.of(["src/**", "!src/gen"], "/w");
    registry.add([skill("hidden", { isModelInvocable: false }), skill("waiting", { condition })]);
    expect(registry.available).toEqual([]);
    expect(registry.find("hidden")).toEqual({ kind: "missing" });
    expect(registry.activate("/w/docs/x", false)).toEqual([]);
    expect(registry.activate("/other/src/x", false)).toEqual([]);
    expect(registry.activate("/w/src/deep/x.ts", false)).toHaveLength(1);
    expect(registry.available.map(({ name }) => name)).toEqual(["waiting"]);
  });

  it("keeps the first of a scope and name, the first scope of a document, and 200 in all", () => {
    const registry = new SkillRegistry();
    registry.add([
      skill("a", { path: "/1" }),
      skill("a", { path: "/2" }),
      skill("b", { path: "/1", scope: "user" }),
    ]);
    expect(registry.available.map(({ path, qualifiedName }) => [path, qualifiedName])).toEqual([
      ["/1", "local:a"],
    ]);
    registry.add(Array.from({ length: 300 }, (_, index) => skill(`s${index}`)));
    expect(registry.available).toHaveLength(200);
  });
});

describe("PathCondition", () => {
  it.each([[[]], [["**"]], [["**/**", "/**"]]])("is none for %j", (patterns) => {
    expect(PathCondition.of(patterns, "/w")).toBeUndefined();
  });
});

describe("expandSkills", () => {
  it("lets one stand alone and names several", () => {
    const a = { skill: skill("a", { description: 'say "x"' }), body: "Do it.", files: [] };
    const one = '<skill name="a" description="say &quot;x&quot;" path="/w/a/SKILL.md">\nDo it.\n</skill>';
    expect(expandSkills([a])).toBe(one);
    expect(expandSkills([a, a])).toBe(
      `<skill_information>\n<skills_referenced>a, a</skills_referenced>\n${one}\n${one}\n</skill_information>`,
    );
  });
});

function skill(name: string, overrides: Partial<Skill> = {}): Skill {
  const fields = skillFieldsOf("", name);
  if (fields === undefined) throw new Error("no name");
  const scope = overrides.scope ?? "local";
  return {
    ...fields,
    scope,
    qualifiedName: `${scope}:${name}`,
    path: `/w/${name}/SKILL.md`,
    folder: `/w/${name}`,
    layout: "folder",
    condition: undefined,
    ...overrides,
  };
}
