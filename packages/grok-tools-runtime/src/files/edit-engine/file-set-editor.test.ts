import { writeFileSync } from "node:fs";
import { link, mkdir, readdir, readFile, readlink, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@trivium/core";
import { sequentialIds, temporaryFolder } from "@trivium/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FileChange, FileSetEditor, type FileSetOutcome } from "./file-set-editor.ts";
import { PathLocks } from "./path-locks.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let locks: PathLocks;
let editor: FileSetEditor;

beforeEach(async () => {
  folder = await temporaryFolder();
  locks = new PathLocks();
  editor = new FileSetEditor({ ids: sequentialIds(), clock: systemClock, isDurable: false, locks });
});

afterEach(async () => {
  // Whatever happened, nothing of ours is left behind.
  const names = await readdir(folder.path, { recursive: true });
  expect(names.filter((name) => name.includes(".trivium-"))).toEqual([]);
  await folder[Symbol.asyncDispose]();
});

describe("FileSetEditor", () => {
  it("writes, makes and removes files, with folders", async () => {
    await put("a", "a");
    await put("b", "b");
    expect(await edit([write("a", "A"), write("new/c", "c"), remove("b")])).toMatchObject({ kind: "done" });
    expect(await content()).toEqual({ a: "A", "new/c": "c" });
  });

  it("takes everything back when a change fails, with what is special about each file", async () => {
    await put("a", "a");
    await put("b", "b");
    await link(at("b"), at("b2"));
    await put("a3", "x");
    await symlink("a3", at("link"));
    await utimes(at("b"), 1000, 1000);
    await put("blocked", "a file where a folder is needed");
    const before = await content();
    const outcome = await edit([
      write("a", "A"),
      write("new/deep/c", "c"),
      remove("b"),
      { kind: "remove", path: at("a3"), name: at("link") },
      write("blocked/d", "d"),
    ]);
    expect(outcome).toMatchObject({
      kind: "failed",
      path: at("blocked/d"),
      restored: [at("a"), at("new/deep/c"), at("b"), at("link")],
      notRestored: [],
    });
    expect(await content()).toEqual(before);
    expect(await readdir(folder.path)).not.toContain("new");
    expect(await readlink(at("link"))).toBe("a3");
    const { nlink, mtimeMs } = await stat(at("b"));
    expect([nlink, mtimeMs]).toEqual([2, 1_000_000]);
  });

  it("says which files could not be given back what they were", async () => {
    await put("a", "a");
    await put("b", "b");
    await put("d", "a file where a folder is needed");
    const changes = [
      write("a", "A"),
      write("b", "B"),
      // Somebody else writes between our write and our failure: their content stays.
      whenMade("d/x", () => writeFileSync(at("a"), "theirs")),
    ];
    const outcome = await edit(changes);
    expect(outcome).toMatchObject({ kind: "failed", restored: [at("b")], notRestored: [at("a")] });
    expect(await content()).toMatchObject({ a: "theirs", b: "b" });
  });

  it("decides again when a file changes before its write, and leaves it alone the second time", async () => {
    await put("a", "a");
    await put("b", "b");
    let theirs = 0;
    const outcome = await editor.edit({
      ...request(["a", "b"]),
      async decide(files) {
        theirs += 1;
        await put("b", `theirs ${theirs}`);
        const seen = files.get(at("b"));
        const text = seen?.kind === "read" ? seen.file?.bytes.toString() : undefined;
        return { changes: [write("a", `saw ${text}`), write("b", "ours")], result: text };
      },
    });
    expect(outcome).toMatchObject({ kind: "failed", path: at("b"), cause: { kind: "aborted" } });
    expect(await content()).toEqual({ a: "a", b: "theirs 2" });
    const once = await editor.edit({
      ...request(["b"]),
      async decide(files) {
        if (theirs === 2) {
          theirs += 1;
          await put("b", "theirs 3");
        }
        const seen = files.get(at("b"));
        const text = seen?.kind === "read" ? seen.file?.bytes.toString() : undefined;
        return { changes: [write("b", `${text} and ours`)], result: text };
      },
    });
    expect(once).toMatchObject({ kind: "done", result: "theirs 3" });
    expect(await content()).toMatchObject({ b: "theirs 3 and ours" });
  });

  it("does not make a file over one that appeared meanwhile", async () => {
    const outcome = await editor.edit({
      ...request(["new"]),
      async decide(files) {
        const seen = files.get(at("new"));
        if (seen?.kind === "read" && seen.file !== undefined) return { changes: [], result: "seen" };
        await put("new", "theirs");
        return { changes: [write("new", "ours")], result: "new" };
      },
    });
    expect(outcome).toMatchObject({ kind: "done", result: "seen" });
    expect(await content()).toEqual({ new: "theirs" });
  });

  it("does not remove what was changed meanwhile", async () => {
    await put("a", "a");
    let version = 0;
    const outcome = await edit([remove("a")], () => put("a", `theirs ${(version += 1)}`));
    expect(outcome).toMatchObject({ kind: "failed", cause: { kind: "aborted" } });
    expect(await content()).toMatchObject({ a: "theirs 2" });
  });

  it("takes everything back when the call is cancelled in the middle", async () => {
    await put("a", "a");
    const controller = new AbortController();
    const reason = new Error("enough");
    const changes = [write("a", "A"), whenMade("b", () => controller.abort(reason)), write("c", "c")];
    const edited = editor.edit({
      ...request(["a", "b", "c"]),
      signal: controller.signal,
      decide: () => ({ changes, result: undefined }),
    });
    await expect(edited).rejects.toBe(reason);
    expect(await content()).toEqual({ a: "a" });
  });

  it("hands over why a file cannot be read", async () => {
    await mkdir(at("folder"));
    const outcome = await editor.edit({
      ...request(["folder", "missing"]),
      decide: (files) => ({ changes: [], result: [...files.values()] }),
    });
    expect(outcome).toMatchObject({
      result: [
        { kind: "failed", cause: { code: "EISDIR" } },
        { kind: "read", file: undefined },
      ],
    });
  });

  it("waits for edits of each of its files, and sets never wait for each other for ever", async () => {
    await put("a", "");
    await put("b", "");
    const held = await locks.acquire(at("b"));
    const append = (names: string[], text: string): Promise<FileSetOutcome<undefined>> =>
      editor.edit({
        ...request(names),
        decide: (files) => ({
          changes: names.map((name) => {
            const seen = files.get(at(name));
            return write(name, `${seen?.kind === "read" ? seen.file?.bytes.toString() : ""}${text}`);
          }),
          result: undefined,
        }),
      });
    const all = Promise.all(
      Array.from({ length: 20 }, (_, index) => append(index % 2 === 0 ? ["a", "b"] : ["b", "a"], "x")),
    );
    const early = append(["a"], "early");
    held[Symbol.dispose]();
    await all;
    await early;
    const { a, b } = await content();
    expect(a?.replaceAll("early", "")).toBe("x".repeat(20));
    expect(b).toBe("x".repeat(20));
  });
});

function at(name: string): string {
  return join(folder.path, name);
}

function write(name: string, text: string): FileChange {
  return { kind: "write", path: at(name), content: Buffer.from(text) };
}

function remove(name: string): FileChange {
  return { kind: "remove", path: at(name), name: at(name) };
}

/** A write that does something else right before it is made. */
function whenMade(name: string, act: () => void): FileChange {
  return {
    kind: "write",
    path: at(name),
    get content() {
      act();
      return Buffer.from("x");
    },
  };
}

function request(names: readonly string[]): Pick<Request, "paths" | "names" | "roots" | "signal"> {
  return { paths: names.map(at), names: [], roots: undefined, signal: new AbortController().signal };
}

type Request = Parameters<FileSetEditor["edit"]>[0];

/** Makes changes; `prepare` runs after the files were read. */
async function edit(
  changes: readonly FileChange[],
  prepare: () => Promise<void> = () => Promise.resolve(),
): Promise<FileSetOutcome<undefined>> {
  return await editor.edit({
    ...request([]),
    paths: changes.map(({ path }) => path),
    names: changes.flatMap((change) => (change.kind === "remove" ? [change.name] : [])),
    async decide() {
      await prepare();
      return { changes, result: undefined };
    },
  });
}

async function put(name: string, text: string): Promise<void> {
  await mkdir(join(at(name), ".."), { recursive: true });
  await writeFile(at(name), text);
}

async function content(): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder.path, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isDirectory()) files[path.slice(folder.path.length + 1)] = await readFile(path, "utf8");
  }
  return files;
}
