import { systemClock } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { SkillDocument } from "../ports/skill-port.ts";
import { extractMentions } from "./extract-mentions.ts";
import { triggeredSkills } from "./triggered-skills.ts";

const plain = {
  description: "",
  whenToUse: undefined,
  paths: [],
  pathPatterns: [],
  bashPatterns: [],
  importPatterns: [],
  chainTo: [],
};
const skill = (name: string, more: Partial<SkillDocument>): SkillDocument => ({ ...plain, name, ...more });
const named = async (skills: readonly SkillDocument[], message: string): Promise<string[]> => {
  const { signal } = new AbortController();
  const triggered = await triggeredSkills(skills, message, { cwd: "/work", clock: systemClock, signal });
  return triggered.map(({ name }) => name);
};

describe("extractMentions", () => {
  it("finds files in quotes and words with an extension", () => {
    const text = `Look at src/app.ts, "docs/with space.md" and 'Makefile/x'. Not at https://a.example/b.html, 3.14 or e.g. this. It isn't a.md, isn't it?`;
    expect(extractMentions(text).paths).toEqual(["docs/with space.md", "Makefile/x", "src/app.ts", "a.md"]);
  });

  it.each([
    ["marks", `${".".repeat(99_990)}x`],
    ["spaces", `import${" ".repeat(99_990)}x`],
    ["names", `use ${"a".repeat(99_990)}`],
  ])("gets to the end of very many %s", (_, text) => {
    expect(extractMentions(text)).toEqual({ paths: [], commands: [], imports: [] });
  });

  it("finds commands in backticks and lines that begin with a well-known program", () => {
    const text =
      "run `pnpm build` please\n  git commit -m x\n$ npm test\ngitter is no program\nand git status is no line";
    expect(extractMentions(text).commands).toEqual(["pnpm build", "git commit -m x", "npm test"]);
  });

  it("finds lines that import", () => {
    const text = `import { x } from "react";\nfrom os import path\nconst fs = require("fs")\nimportant words\n#include <stdio.h>`;
    expect(extractMentions(text).imports).toEqual([
      `import { x } from "react";`,
      "from os import path",
      `const fs = require("fs")`,
      "#include <stdio.h>",
    ]);
  });
});

describe("a skill is triggered", () => {
  it.each([
    ["*.ts", "see src/deep/APP.TS", true],
    ["src/**/*.ts", "see src/app.ts", true],
    ["src/**/*.ts", "see /work/src/a/b/app.ts", true],
    ["src/*.ts", "see src/a/app.ts", false],
    ["**/*.{js,ts}", "see ./a.js", true],
    ["a?.ts", "see ab.ts", true],
    ["[x].ts", "see x.ts", false],
  ])("by the glob %s and the message %s: %s", async (glob, message, expected) => {
    expect(await named([skill("s", { pathPatterns: [glob] })], message)).toEqual(expected ? ["s"] : []);
  });

  it("by a command or an import, where the expression is found in it", async () => {
    const skills = [
      skill("git", { bashPatterns: ["commit"] }),
      skill("react", { importPatterns: ["from ['\"]react"] }),
      skill("other", { bashPatterns: ["push"], importPatterns: ["vue"] }),
    ];
    expect(await named(skills, "do\ngit commit -a")).toEqual(["git"]);
    expect(await named(skills, `import x from "react"`)).toEqual(["react"]);
    expect(await named(skills, "commit, from 'react'")).toEqual([]);
  });

  it("only where its paths fit, which trigger by themselves when nothing else says so", async () => {
    const gated = skill("gated", { paths: ["src/**"], pathPatterns: ["*.ts"], bashPatterns: ["^make"] });
    expect(await named([gated], "docs/a.ts")).toEqual([]);
    expect(await named([gated], "src/a.ts")).toEqual(["gated"]);
    expect(await named([gated], "make all")).toEqual([]);
    expect(await named([gated], "src/a.py\nmake all")).toEqual(["gated"]);
    expect(await named([gated], "src/a.py")).toEqual([]);
    expect(await named([skill("open", { paths: ["src/**"] })], "src/a.py")).toEqual(["open"]);
  });

  it("with its companions: once each, without going round, and without those that do not exist", async () => {
    const skills = [
      skill("a", { pathPatterns: ["*.ts"], chainTo: ["c", "none"] }),
      skill("b", { pathPatterns: ["*.ts"] }),
      skill("c", { chainTo: ["a", "b"] }),
    ];
    expect(await named(skills, "x.ts")).toEqual(["a", "c", "b"]);
  });

  it("not when the turn is interrupted", async () => {
    const abort = new AbortController();
    const skills = [skill("endless", { bashPatterns: ["(a+)+$"] })];
    const options = { cwd: "/work", clock: new ManualClock(), signal: abort.signal };
    const matching = triggeredSkills(skills, `git ${"a".repeat(60)}!`, options);
    abort.abort(new Error("enough"));
    await expect(matching).rejects.toThrow("enough");
  });

  it("within a time: an expression that never ends, or is none, fits nothing and stops nobody", async () => {
    const message = `git ${"a".repeat(60)}!`;
    const skills = [
      skill("first", { bashPatterns: ["^git"] }),
      skill("broken", { bashPatterns: ["("] }),
      skill("endless", { bashPatterns: ["(a+)+$", "((a*)*)*b"] }),
    ];
    expect(await named(skills, message)).toEqual(["first"]);
  });
});
