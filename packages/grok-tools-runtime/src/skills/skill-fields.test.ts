import { describe, expect, it } from "vitest";
import { splitFrontmatter } from "./frontmatter.ts";
import { skillFieldsOf, toSlug } from "./skill-fields.ts";

describe("skillFieldsOf", () => {
  it("reads all fields", () => {
    const document = `---
name: "My Skill"
description: Does it
when-to-use: Often
paths: ["src/**", docs]
allowed-tools: Bash(git add *, git rm), Read Write
argument-hint: <file>
model: large
effort: 3
license: MIT
compatibility: all
metadata: { author: me, version: 1, list: [] }
pathPatterns: "*.ts, src/**"
bashPatterns: ["^git (add|commit)"]
importPatterns: from 'react'
chainTo: Other Skill, more
user-invocable: no
disable-model-invocation: "true"
---
text`;
    expect(skillFieldsOf(document, "folder")).toEqual({
      name: "my-skill",
      description: "Does it",
      whenToUse: "Often",
      paths: ["src/**", "docs"],
      allowedTools: ["Bash(git add *, git rm)", "Read", "Write"],
      argumentHint: "<file>",
      model: "large",
      effort: "3",
      license: "MIT",
      compatibility: "all",
      metadata: { author: "me", version: "1" },
      triggers: {
        pathPatterns: ["*.ts", "src/**"],
        bashPatterns: ["^git (add|commit)"],
        importPatterns: ["from 'react'"],
        chainTo: ["other-skill", "more"],
      },
      isUserInvocable: false,
      isModelInvocable: false,
    });
  });

  it.each([
    [
      "an unquoted colon",
      "name: a\ndescription: Use when: it rains",
      { name: "a", description: "Use when: it rains" },
    ],
    [
      "broken YAML",
      "name: a\n  - [x\ndescription: 'D'\nwhen_to_use: now\n\t:",
      { name: "a", description: "D", whenToUse: "now" },
    ],
    ["a field of a wrong kind", "name: [1]\ndescription: ok", { name: "folder", description: "ok" }],
    [
      "an alias, which could grow without limit",
      "name: &x a\ndescription: ok\nmodel: *x",
      { description: "ok" },
    ],
    ["a list instead of fields", "- a", { name: "folder", description: "Body" }],
    ["Windows line ends", "name: a\r\ndescription: b\r", { name: "a", description: "b" }],
  ])("makes the best of %s", (_, head, expected) => {
    expect(skillFieldsOf(`---\n${head}\n---\n# Body\n`, "folder")).toMatchObject(expected);
  });

  it.each([
    ["# A heading\n\ntext", "A heading"],
    ["first line\nsecond line\n\nmore", "first line second line"],
    ["", ""],
  ])("describes %j by %j", (body, description) => {
    expect(skillFieldsOf(body, "x")).toMatchObject({ name: "x", description });
  });

  it("has no skill without a name", () => {
    expect(skillFieldsOf("---\nname: '!'\n---\n", "...")).toBeUndefined();
  });

  it("keeps a head that does not end as text", () => {
    expect(splitFrontmatter("---\nname: a\n")).toEqual({ frontmatter: undefined, body: "---\nname: a\n" });
    expect(splitFrontmatter("\ufeff---\na: b\n---\nbody\n---\n")).toEqual({
      frontmatter: "a: b\n",
      body: "body\n---\n",
    });
  });
});

describe("toSlug", () => {
  it.each([
    ["Make A_Commit!", "make-a-commit"],
    ["--x--", "x"],
    ["a".repeat(80), "a".repeat(64)],
    ["\u00e9", ""],
  ])("makes %j to %j", (text, slug) => {
    expect(toSlug(text)).toBe(slug);
  });
});
