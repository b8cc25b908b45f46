import { renameSync, symlinkSync } from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext } from "../../../tool.ts";
import { defaultToolSettings } from "../../../tool-settings.ts";
import { listDir } from "./list-dir.ts";
import { listDirParams } from "./list-dir-schemas.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let context: ToolContext<unknown>;

beforeEach(async () => {
  folder = await temporaryFolder();
  context = contextWith({});
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("GrokBuild:list_dir", () => {
  it("tells what it has listed", async () => {
    await put("src/a.rs");
    const files: unknown[] = [];
    context = { ...context, touched: (file) => files.push(file) };
    await list("src");
    await listDir.run({ target_directory: "nothing" }, context);
    expect(files).toEqual([{ access: "list", path: join(folder.path, "src") }]);
  });

  it("lists folders and files together, without regard to case", async () => {
    await put("README.md", "src/b.rs", "src/A.rs", "lib.rs", "zeta/deep/x");
    expect(await list(".")).toBe(
      [
        `- ${folder.path}/`,
        "  - lib.rs",
        "  - README.md",
        "  - src/",
        "    - A.rs",
        "    - b.rs",
        "  - zeta/",
        "    - deep/",
        "      - x",
      ].join("\n"),
    );
  });

  it("summarises folders that do not fit, and opens later ones that do", async () => {
    await put(
      ...Array.from({ length: 30 }, (_, index) => `fat/file${index}.RS`),
      "fat/x",
      "fat/y.md",
      "fat/z.py",
      "small/s.rs",
    );
    expect(await list(".", { maxOutput: 150 })).toBe(
      [
        `- ${folder.path}/`,
        "  - fat/",
        "    [33 files in subtree: 30 *.rs, 1 *.md, 1 *no-ext, ...]",
        "  - small/",
        "    - s.rs",
      ].join("\n"),
    );
  });

  it("lists as many entries as fit and names what helps with the rest", async () => {
    await put(...Array.from({ length: 9 }, (_, index) => `f${index + 1}.txt`));
    const listing = await list(".", { maxOutput: 30, toolName: (kind) => `the_${kind}` });
    expect(listing.split("\n").slice(1, 4)).toEqual(["  - f1.txt", "  - f2.txt", "    ..."]);
    for (const name of ["the_list", "the_search", "the_execute"]) expect(listing).toContain(name);
  });

  it("counts characters, not bytes", async () => {
    await put("ééééé", "f");
    expect(await list(".", { maxOutput: 16 })).toBe(`- ${folder.path}/\n  - f\n  - ééééé`);
  });

  it("neither lists hidden entries nor follows links", async () => {
    await put(".env", "d/x.txt");
    await symlink("d", join(folder.path, "link"));
    expect(await list(".")).toBe(`- ${folder.path}/\n  - d/\n    - x.txt\n  - link`);
  });

  it("obeys ignore files: .ignore everywhere, git's inside a repository and while they are not off", async () => {
    await put("outside/build/x", "repo/build/x", "repo/a", "repo/sub/b", "repo/sub/c");
    await writeFile(join(folder.path, "outside/.gitignore"), "build/\n");
    await writeFile(join(folder.path, "repo/.gitignore"), "build/\n");
    await writeFile(join(folder.path, "repo/sub/.ignore"), "b\n");
    await mkdir(join(folder.path, "repo/.git"));
    expect(await list("outside")).toContain("build/");
    expect(await list("repo")).toBe(`- ${folder.path}/repo/\n  - a\n  - sub/\n    - c`);
    const settings = { ...defaultToolSettings, respectGitignore: "off" as const };
    expect(await list("repo", { settings })).toBe(
      `- ${folder.path}/repo/\n  - a\n  - build/\n    - x\n  - sub/\n    - c`,
    );
  });

  it("lists an ignored folder that is named", async () => {
    await put("build/x");
    await mkdir(join(folder.path, ".git"));
    await writeFile(join(folder.path, ".gitignore"), "build/\n");
    expect(await list("build/")).toBe(`- ${folder.path}/build/\n  - x`);
  });

  it.each([
    ["nothing", "NotFound", undefined],
    ["f", "IsAFile", "is_a_file"],
    ["f/x", "NotADirectory", "not_a_directory"],
    ["/dev/null", "NotADirectory", "not_a_directory"],
  ])("tells what %s is", async (target_directory, variant, reason) => {
    await put("f");
    const { output, failure } = await listDir.run({ target_directory }, context);
    expect(output).toHaveProperty(variant);
    expect(failure).toMatchObject({
      code: ErrorCode.FILE_NOT_FOUND,
      ...(reason !== undefined && { reason }),
    });
  });

  it("lists nothing outside the roots", async () => {
    await put("in/a", "out/b");
    await symlink("../out", join(folder.path, "in/door"));
    const limits = { workspaceRoots: [join(folder.path, "in")], sessionFolder: join(folder.path, "session") };
    for (const target_directory of ["out", "in/door", "in/../out"]) {
      const { failure } = await listDir.run({ target_directory }, toolContext({ ...context, ...limits }));
      expect(failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "outside_roots" });
    }
  });

  it("lists nothing of a link to the outside that takes a folder's place meanwhile", async () => {
    await put("in/sub/deep/mine", "out/deep/theirs");
    const swap = (path: string): void => {
      renameSync(join(folder.path, path), join(folder.path, "moved"));
      symlinkSync(join(folder.path, "out"), join(folder.path, path));
    };
    const resource: ToolContext<unknown>["resource"] = (definition) => {
      // Asked for after the folder was looked at and before it is read.
      swap("in/sub");
      return context.resource(definition);
    };
    const limits = { workspaceRoots: [join(folder.path, "in")], sessionFolder: join(folder.path, "session") };
    const first = await listDir.run(
      { target_directory: "in/sub" },
      toolContext({ ...context, ...limits, resource }),
    );
    expect(first.failure).toMatchObject({ reason: "outside_roots" });
    await rm(join(folder.path, "in/sub"));
    await rename(join(folder.path, "moved"), join(folder.path, "in/sub"));
    let count = 0;
    const signal = {
      aborted: false,
      // Asked before each level of folders.
      throwIfAborted() {
        count += 1;
        if (count === 1) swap("in/sub");
      },
    } as AbortSignal;
    const second = await listDir.run(
      { target_directory: "in" },
      toolContext({ ...context, ...limits, signal }),
    );
    expect(second.promptText.split("\n")).toEqual([`- ${folder.path}/in/`, "  - sub/"]);
  });

  it("has fixed thresholds in the legacy version", async () => {
    await put(
      ...Array.from({ length: 15 }, (_, index) => `many/f${index}`),
      ...Array.from({ length: 14 }, (_, index) => `few/f${index}`),
    );
    await put("few/deep/x.md");
    context = contextWith({ behaviorVersion: "legacy-0.4.10" });
    const lines = (await list(".")).split("\n");
    expect(lines.slice(0, 3)).toEqual([
      `- ${folder.path}/`,
      "  - few/",
      "    [15 files in subtree: 14 *no-ext, 1 *.md]",
    ]);
    expect(lines.slice(3)).toEqual(["  - many/", "    [15 files in subtree: 15 *no-ext]"]);
    expect((await listDir.run({ target_directory: "few/deep" }, context)).promptText).toContain("  - x.md");
  });
});

async function put(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), "");
  }
}

function contextWith(overrides: Partial<ToolContext<unknown>>): ToolContext<unknown> {
  return toolContext({
    workingDirectory: folder.path,
    params: listDirParams.schema.parse({}),
    limits: { maxOutput: 10_000, maxOutputConfigured: false, maxLinesRead: 1000 },
    ...overrides,
  });
}

interface ListOptions extends Partial<ToolContext<unknown>> {
  readonly maxOutput?: number;
}

async function list(
  target_directory: string,
  { maxOutput = 10_000, ...overrides }: ListOptions = {},
): Promise<string> {
  const limits = { ...context.limits, maxOutput };
  const { promptText, output } = await listDir.run(
    { target_directory },
    toolContext({ ...context, limits, ...overrides }),
  );
  expect(output["Content"]).toMatchObject({ content: promptText });
  return promptText;
}
