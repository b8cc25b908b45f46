import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext } from "../../../tool.ts";
import { shownCursorRules } from "./cursor-rules.ts";
import { readFile } from "./read-file.ts";
import { readFileParams } from "./read-file-input.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let context: ToolContext<unknown>;

beforeEach(async () => {
  folder = await temporaryFolder();
  context = contextWith(true);
  await put("src/app.ts", "code");
  await put("src/app.py", "code");
});
afterEach(() => folder[Symbol.asyncDispose]());

describe("cursor_rules_on_read", () => {
  it("puts rules that apply behind the text, each once", async () => {
    await put(".cursor/rules/always.mdc", "---\nalwaysApply: true\n---\nBe kind.\n");
    await put(".cursor/rules/deep/ts.md", "---\nglobs: '*.{ts,tsx}, docs/**'\n---\nUse types.\n");
    await put("src/.cursor/rules/py.md", '---\nglobs: ["**/*.py"]\n---\nUse hints.\n');
    const first = await read("src/app.ts");
    expect(first).toContain(
      '1→code\n\n<editor-rule path=".cursor/rules/always.mdc">\nBe kind.\n</editor-rule>',
    );
    expect(first).toContain("Use types.");
    expect(first).not.toContain("Use hints.");
    const second = await read("src/app.py");
    expect(second).toContain("Use hints.");
    expect(second).not.toContain("Be kind.");
    expect(await read("src/app.ts")).toBe("1→code");
  });

  it("leaves out rules that only describe themselves, broken ones, and all of them by default", async () => {
    await put(".cursor/rules/described.mdc", "---\ndescription: about code\n---\nNo.\n");
    await put(".cursor/rules/plain.mdc", "No.\n");
    await put(".cursor/rules/other.txt", "---\nalwaysApply: true\n---\nNo.\n");
    expect(await read("src/app.ts")).toBe("1→code");
    await put(".cursor/rules/always.mdc", "---\nalwaysApply: true\n---\nYes.\n");
    context = contextWith(false);
    expect(await read("src/app.ts")).toBe("1→code");
  });

  it("remembers in the saved state what was shown", async () => {
    await put(".cursor/rules/always.mdc", "---\nalwaysApply: true\n---\nYes.\n");
    await read("src/app.ts");
    const saved = shownCursorRules.state?.save(context.resource(shownCursorRules));
    expect(saved).toEqual({ shown: [join(folder.path, ".cursor/rules/always.mdc")] });
    context = contextWith(true);
    expect(shownCursorRules.state?.load(context.resource(shownCursorRules), saved ?? null)).toBe(true);
    expect(await read("src/app.ts")).toBe("1→code");
  });
});

function contextWith(isOn: boolean): ToolContext<unknown> {
  const params = readFileParams.schema.parse({ cursor_rules_on_read: isOn });
  return toolContext({ workingDirectory: folder.path, params });
}

async function put(path: string, text: string): Promise<void> {
  const absolute = join(folder.path, path);
  await mkdir(dirname(absolute), { recursive: true });
  await writeFile(absolute, text);
}

async function read(target_file: string): Promise<string> {
  return (await readFile.run({ target_file }, context)).promptText;
}
