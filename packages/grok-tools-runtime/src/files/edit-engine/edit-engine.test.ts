import { execFileSync } from "node:child_process";
import {
  chmod,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@trivium/core";
import { sequentialIds, temporaryFolder } from "@trivium/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { resolveTarget } from "../resolve-target.ts";
import type { CurrentFile } from "./current-file.ts";
import { type EditDecision, EditEngine } from "./edit-engine.ts";
import { PathLocks } from "./path-locks.ts";
import { replaceText } from "./replace-text.ts";
import { sha256Of } from "./splice.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let engine: EditEngine;

beforeEach(async () => {
  folder = await temporaryFolder();
  engine = new EditEngine({
    ids: sequentialIds(),
    clock: systemClock,
    isDurable: false,
    locks: new PathLocks(),
  });
});

afterEach(async () => {
  // Whatever happened, nothing of ours is left behind.
  const names = await readdir(folder.path, { recursive: true });
  expect(names.filter((name) => name.includes(".trivium-"))).toEqual([]);
  await folder[Symbol.asyncDispose]();
});

describe("EditEngine", () => {
  it("says what the file was, what it is and which bytes differ", async () => {
    const path = await put("a.txt", "one\r\ntwo\r\n");
    const { receipt } = await edit(path, "two", "2");
    expect(await readFile(path, "utf8")).toBe("one\r\n2\r\n");
    expect(receipt).toEqual({
      before_sha256: sha256Of(Buffer.from("one\r\ntwo\r\n")),
      after_sha256: sha256Of(Buffer.from("one\r\n2\r\n")),
      spans: [[5, 8, 6]],
      line_ending: "crlf",
      encoding: "utf-8",
    });
  });

  it("keeps the mode of the file", async () => {
    const path = await put("run.sh", "a\n");
    await chmod(path, 0o4751);
    await edit(path, "a", "b");
    expect((await stat(path)).mode & 0o7777).toBe(0o4751);
  });

  it("writes the target of a symbolic link and keeps the link", async () => {
    const path = await put("target.txt", "a\n");
    const linkPath = join(folder.path, "link.txt");
    await symlink("target.txt", linkPath);
    await edit(await resolveTarget(linkPath), "a", "b");
    expect(await readFile(path, "utf8")).toBe("b\n");
    expect(await readlink(linkPath)).toBe("target.txt");
  });

  it("makes the file that a link to nothing names", async () => {
    const linkPath = join(folder.path, "link.txt");
    await symlink("sub/new.txt", linkPath);
    await write(await resolveTarget(linkPath), "new\n");
    expect(await readFile(join(folder.path, "sub/new.txt"), "utf8")).toBe("new\n");
    expect((await lstat(linkPath)).isSymbolicLink()).toBe(true);
  });

  it("keeps the other names of a file with several", async () => {
    const path = await put("a.txt", "long old content\n");
    const other = join(folder.path, "b.txt");
    await link(path, other);
    await edit(path, "long old content", "new");
    expect(await readFile(other, "utf8")).toBe("new\n");
    expect((await stat(path)).nlink).toBe(2);
  });

  it("puts the old content back when the disk is full while a file is written in place", async () => {
    const path = await put("a.txt", "old\n".repeat(1024));
    await link(path, join(folder.path, "b.txt"));
    const source = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
    const program = `
      import { randomIds, systemClock } from "@trivium/core";
      import { EditEngine } from ${source("./edit-engine.ts")};
      import { PathLocks } from ${source("./path-locks.ts")};
      const options = { ids: randomIds, clock: systemClock, isDurable: true, locks: new PathLocks() };
      const write = { bytes: Buffer.alloc(20_000, "new"), spans: [] };
      await new EditEngine(options)
        .edit({ path: ${JSON.stringify(path)}, roots: undefined, decide: () => ({ write, result: 0 }) })
        .catch((cause) => process.stdout.write(cause.code));
    `;
    // No file may become larger than 8 KiB: a write stops half-way, as on a full disk.
    const node = [process.execPath, "--conditions=@trivium/source", "--input-type=module", "--eval", program];
    const limited = ["-c", 'ulimit -f 8; exec "$@"', "bash", ...node];
    const code = execFileSync("bash", limited, { cwd: import.meta.dirname, encoding: "utf8" });
    expect(code).toBe("EFBIG");
    expect(await readFile(path, "utf8")).toBe("old\n".repeat(1024));
  });

  it("makes folders for a new file and reports no hash before", async () => {
    const path = join(folder.path, "a/b/new.txt");
    const { receipt } = await write(path, "x");
    expect(await readFile(path, "utf8")).toBe("x");
    expect(receipt).toMatchObject({ before_sha256: null, spans: [[0, 0, 1]], line_ending: "none" });
  });

  it("never mixes edits of one path: a hundred at once all count", async () => {
    const path = await put("n.txt", "0");
    const increment = (current: CurrentFile | undefined): EditDecision<undefined> => {
      const bytes = Buffer.from(String(Number(current?.bytes.toString()) + 1));
      return { write: { bytes, spans: [] }, result: undefined };
    };
    await Promise.all(
      Array.from({ length: 100 }, () => engine.edit({ path, roots: undefined, decide: increment })),
    );
    expect(await readFile(path, "utf8")).toBe("100");
  });

  it("decides again when the file changes between the read and the write", async () => {
    const path = await put("a.txt", "a\n");
    const seen: string[] = [];
    await engine.edit({
      path,
      roots: undefined,
      async decide(current) {
        seen.push(current?.bytes.toString() ?? "");
        if (seen.length === 1) await writeFile(path, "theirs a\n");
        return replaceIn(current, "a", "b");
      },
    });
    expect(seen).toEqual(["a\n", "theirs a\n"]);
    expect(await readFile(path, "utf8")).toBe("theirs b\n");
  });

  it("gives up on a file that keeps changing and leaves the other's content", async () => {
    const path = await put("a.txt", "a0\n");
    let count = 0;
    const attempt = engine.edit({
      path,
      roots: undefined,
      async decide(current) {
        count += 1;
        await writeFile(path, `a${count}\n`);
        return replaceIn(current, "a", "b");
      },
    });
    await expect(attempt).rejects.toMatchObject({ kind: "aborted" });
    expect(await readFile(path, "utf8")).toBe("a2\n");
  });

  it("does not replace a file that appears while a new one is made", async () => {
    const path = join(folder.path, "new.txt");
    const attempt = engine.edit({
      path,
      roots: undefined,
      async decide(current) {
        if (current === undefined) await writeFile(path, "theirs\n");
        const write = current === undefined ? { bytes: Buffer.from("ours\n"), spans: [] } : undefined;
        return { write, result: current?.bytes.toString() };
      },
    });
    expect((await attempt).result).toBe("theirs\n");
    expect(await readFile(path, "utf8")).toBe("theirs\n");
  });

  it("notices a change that keeps size and time", async () => {
    const path = await put("a.txt", "aaaa\n");
    const { atime, mtime } = await stat(path);
    const contents: string[] = [];
    await engine.edit({
      path,
      roots: undefined,
      async decide(current) {
        contents.push(current?.bytes.toString() ?? "");
        if (contents.length === 1) {
          await writeFile(path, "xaaa\n");
          await utimes(path, atime, mtime);
        }
        return replaceIn(current, "aaa\n", "b\n");
      },
    });
    expect(await readFile(path, "utf8")).toBe("xb\n");
  });

  it.each([["folder", "is a directory"]])("refuses a %s", async (name) => {
    await mkdir(join(folder.path, name));
    await expect(edit(join(folder.path, name), "a", "b")).rejects.toMatchObject({ code: "EISDIR" });
  });

  it("refuses a path outside the roots, also through a link and for a new file", async () => {
    await mkdir(join(folder.path, "in"));
    await mkdir(join(folder.path, "out"));
    await put("out/a.txt", "a\n");
    await symlink("../out", join(folder.path, "in/door"));
    const roots = [join(folder.path, "in")];
    for (const path of ["out/a.txt", "in/door/a.txt", "in/door/new.txt", "in/door/sub/new.txt"]) {
      const attempt = engine.edit({ path: join(folder.path, path), roots, decide: () => newText("x") });
      await expect(attempt).rejects.toMatchObject({ kind: "permissionDenied" });
    }
    expect(await readFile(join(folder.path, "out/a.txt"), "utf8")).toBe("a\n");
    expect(await readdir(join(folder.path, "out"))).toEqual(["a.txt"]);
  });

  it("does not follow a folder that becomes a link to the outside during the edit", async () => {
    await mkdir(join(folder.path, "in/sub"), { recursive: true });
    await mkdir(join(folder.path, "out"));
    const path = await put("in/sub/a.txt", "a\n");
    await put("out/a.txt", "a\n");
    const attempt = engine.edit({
      path,
      roots: [join(folder.path, "in")],
      async decide() {
        await rename(join(folder.path, "in/sub"), join(folder.path, "in/moved"));
        await symlink("../out", join(folder.path, "in/sub"));
        return newText("b\n");
      },
    });
    await expect(attempt).rejects.toMatchObject({ kind: "permissionDenied" });
    expect(await readFile(join(folder.path, "out/a.txt"), "utf8")).toBe("a\n");
  });

  it("removes temporary files that a dead server left in the folder, and no others", async () => {
    const path = await put("a.txt", "a\n");
    const old = await put(".trivium-edit-00.tmp", "half");
    const fresh = await put(".trivium-edit-01.tmp", "in use");
    await utimes(old, new Date(0), new Date(0));
    await edit(path, "a", "b");
    expect(await readdir(folder.path)).toEqual([".trivium-edit-01.tmp", "a.txt"]);
    await rename(fresh, join(folder.path, "gone.txt"));
  });

  it("gives up its place in the queue when the signal aborts", async () => {
    const path = await put("a.txt", "a\n");
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const first = engine.edit({ path, roots: undefined, decide: () => held.then(() => newText("1")) });
    const controller = new AbortController();
    const second = engine.edit({
      path,
      roots: undefined,
      signal: controller.signal,
      decide: () => newText("2"),
    });
    const third = engine.edit({
      path,
      roots: undefined,
      decide: (current) => newText(`${current?.bytes.toString()}3`),
    });
    controller.abort(new Error("no longer wanted"));
    await expect(second).rejects.toThrow("no longer wanted");
    release();
    await Promise.all([first, third]);
    expect(await readFile(path, "utf8")).toBe("13");
  });
});

async function put(name: string, content: string): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, content);
  return path;
}

function edit(path: string, oldString: string, newString: string) {
  return engine.edit({
    path,
    roots: undefined,
    decide: (current) => replaceIn(current, oldString, newString),
  });
}

function write(path: string, content: string) {
  const bytes = Buffer.from(content);
  return engine.edit({
    path,
    roots: undefined,
    decide: () => ({ write: { bytes, spans: [[0, 0, bytes.length]] }, result: undefined }),
  });
}

function newText(content: string): EditDecision<undefined> {
  return { write: { bytes: Buffer.from(content), spans: [] }, result: undefined };
}

function replaceIn(
  current: CurrentFile | undefined,
  oldString: string,
  newString: string,
): EditDecision<undefined> {
  const outcome = replaceText(current?.bytes ?? Buffer.alloc(0), { oldString, newString, replaceAll: false });
  return { write: outcome.kind === "replaced" ? outcome : undefined, result: undefined };
}
