import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import type { ProgramRequest } from "../../ports/program-port.ts";
import { runSpawned } from "../../testing/spawned-programs.ts";
import { restoreFiles } from "./restore-files.ts";
import { SnapshotRepository } from "./snapshot-repository.ts";

const MAX_BYTES = 100 * 1024 * 1024;

it("brings every byte, mode and link back, whatever attributes and settings say", async () => {
  await using place = await createPlace();
  await place.git("init", "--quiet");
  await place.git("config", "core.autocrlf", "true");
  await place.git("config", "filter.shout.clean", "tr a-z A-Z");
  const files = {
    ".gitattributes":
      "* text=auto eol=crlf\n*.up filter=shout\n*.id ident\n*.u16 text working-tree-encoding=UTF-16\n",
    "crlf.txt": "one\r\ntwo\nthree\r\n",
    "loud.up": "quiet",
    "a.id": "$Id$",
    "bom.u16": Buffer.from([0xff, 0xfe, 0x61, 0x00, 0xd8]),
    "data.bin": Buffer.from([0, 255, 13, 10, 0]),
    "back\\slash\nname": "odd name",
    "deep/er/file": "deep",
  };
  for (const [path, content] of Object.entries(files)) await place.write(path, content);
  await place.write("run.sh", "#!/bin/sh\n");
  await chmod(place.at("run.sh"), 0o750);
  await symlink("deep/er/file", place.at("link"));
  const { snapshotId } = await place.repository.take({});

  for (const path of Object.keys(files)) await place.write(path, "changed");
  await chmod(place.at("run.sh"), 0o640);
  await rm(place.at("link"));
  await symlink("elsewhere", place.at("link"));
  await rm(place.at("deep"), { recursive: true });
  await place.write("deep", "a file where a folder was");
  await place.write("new/er/file", "new");
  expect(await place.restore(snapshotId)).toEqual({
    written: [...Object.keys(files), "link", "run.sh"].sort(),
    deleted: ["deep", "new/er/file"],
    problems: [],
  });

  for (const [path, content] of Object.entries(files)) {
    expect(await readFile(place.at(path)), path).toEqual(Buffer.from(content));
  }
  expect((await lstat(place.at("run.sh"))).mode & 0o777).toBe(0o750);
  expect(await readlink(place.at("link"))).toBe("deep/er/file");
  // The folders that came with the deleted file have gone with it.
  await expect(lstat(place.at("new"))).rejects.toThrow("ENOENT");
});

it("item 19: leaves the repository of the user, its index and what is staged as they are", async () => {
  await using place = await createPlace();
  await place.git("init", "--quiet");
  await place.write("kept", "1");
  await place.git("add", ".");
  await place.git("-c", "user.name=u", "-c", "user.email=u@x", "commit", "--quiet", "-m", "first");
  await place.write("staged", "staged");
  await place.git("add", "staged");
  await place.write("staged", "staged, then changed");
  await place.write(".env", "SECRET=1");
  const before = await place.gitFiles();
  const { snapshotId } = await place.repository.take({ refName: "refs/sessions/s/one" });
  await place.write("kept", "2");
  await place.write("later", "later");
  await place.restore(snapshotId);
  expect(await place.gitFiles()).toEqual(before);
  expect(await place.git("status", "--porcelain")).toBe("AM staged\n?? .env\n");
  expect(await readFile(place.at("staged"), "utf8")).toBe("staged, then changed");
});

it("keeps no ignored files, but tracked ones, and those of repositories inside", async () => {
  await using place = await createPlace();
  await place.git("init", "--quiet");
  await place.write(".gitignore", "*.log\nbuild/\n");
  await place.write("tracked.log", "1");
  await place.git("add", "--force", "tracked.log");
  await place.write("other.log", "1");
  await place.write("build/out", "1");
  await place.write("inner/file", "1");
  await place.write("inner/.gitignore", "hidden\n");
  await place.write("inner/hidden", "1");
  await place.git("-C", place.at("inner"), "init", "--quiet");
  const { files } = await place.repository.take({});
  expect(files).toEqual([".gitignore", "inner/.gitignore", "inner/file", "tracked.log"]);
});

it("honours ignore rules outside a repository and in a folder that its repository ignores", async () => {
  await using place = await createPlace();
  await place.write(".gitignore", "secret\n");
  await place.write("secret", "1");
  await place.write("node_modules/m/index.js", "1");
  await place.write("src/a", "1");
  expect((await place.repository.take({})).files).toEqual([".gitignore", "src/a"]);
  await writeFile(join(place.outer, ".gitignore"), "/work\n");
  await place.git("-C", place.outer, "init", "--quiet");
  expect((await place.repository.take({})).files).toEqual([".gitignore", "src/a"]);
});

it("neither deletes what the snapshot ignored nor loses what is ignored only now", async () => {
  await using place = await createPlace();
  await place.write(".gitignore", ".env\n");
  await place.write(".env", "kept by nobody");
  await place.write("sub/.env", "kept by nobody either");
  await place.write("notes", "then");
  const { snapshotId } = await place.repository.take({});
  await place.write(".gitignore", "notes\n");
  await place.write("notes", "now");
  await place.write(":(glob)late", "late");
  const present = await place.repository.take({ also: await place.repository.filesOf(snapshotId) });
  expect(present.files).toEqual([".env", ".gitignore", ":(glob)late", "notes", "sub/.env"]);
  const { deleted, written } = await place.restore(snapshotId, present.snapshotId);
  expect(deleted).toEqual([":(glob)late"]);
  expect(written).toEqual([".gitignore", "notes"]);
  expect(await readFile(place.at(".env"), "utf8")).toBe("kept by nobody");
  await place.restore(present.snapshotId, snapshotId);
  expect(await readFile(place.at("notes"), "utf8")).toBe("now");
});

it("follows no link out of the folder and says what it could not write", async () => {
  await using place = await createPlace();
  await place.write("sub/file", "inside");
  await place.write(".gitignore", "sub\n");
  const { snapshotId } = await place.repository.take({ also: ["sub/file"] });
  await rm(place.at("sub"), { recursive: true });
  await mkdir(join(place.outer, "elsewhere"));
  await writeFile(join(place.outer, "elsewhere", "other"), "outside");
  await symlink(join(place.outer, "elsewhere"), place.at("sub"));
  const report = await place.restore(snapshotId);
  expect(report).toMatchObject({ written: [], problems: ["sub/file: sub is no folder"] });
  await expect(lstat(join(place.outer, "elsewhere", "file"))).rejects.toThrow("ENOENT");
});

it("keeps a link in the place of a tracked folder, and brings the folder back", async () => {
  await using place = await createPlace();
  await place.git("init", "--quiet");
  await place.write("sub/file", "inside");
  await place.git("add", ".");
  const { snapshotId } = await place.repository.take({});
  await rm(place.at("sub"), { recursive: true });
  await mkdir(join(place.outer, "elsewhere"));
  await writeFile(join(place.outer, "elsewhere", "file"), "outside");
  await symlink(join(place.outer, "elsewhere"), place.at("sub"));
  expect((await place.repository.take({ also: ["sub/file"] })).files).toEqual(["sub"]);
  expect(await place.restore(snapshotId)).toEqual({ written: ["sub/file"], deleted: ["sub"], problems: [] });
  expect((await lstat(place.at("sub"))).isDirectory()).toBe(true);
  expect(await readFile(join(place.outer, "elsewhere", "file"), "utf8")).toBe("outside");
});

it("refuses more than 100 MiB and keeps nothing of the data folder", async () => {
  await using place = await createPlace();
  await place.write("data/events", "1");
  await place.write("large", "");
  await truncate(place.at("large"), MAX_BYTES + 1);
  await expect(place.repository.take({})).rejects.toMatchObject({ kind: "resourceExhausted" });
  await truncate(place.at("large"), 1);
  expect((await place.repository.take({})).files).toEqual(["large"]);
});

it("makes an index anew that is damaged, and frees what nothing holds any more", async () => {
  await using place = await createPlace();
  await place.write("a", "first");
  const first = await place.repository.take({ refName: "refs/sessions/s/one" });
  await writeFile(join(place.repositoryPath, "index"), "damaged");
  await writeFile(join(place.repositoryPath, "index.lock"), "");
  await place.write("a", "second");
  const second = await place.repository.take({ refName: "refs/sessions/s/two" });
  await place.repository.forget(["refs/sessions/s/one", "refs/sessions/s/unknown"]);
  await expect(place.repository.filesOf(first.snapshotId)).rejects.toThrow("git ls-tree failed");
  expect(await place.repository.filesOf(second.snapshotId)).toEqual(["a"]);
  await place.repository.forget(await place.repository.refsBelow("refs/sessions/s/"));
  await expect(lstat(place.repositoryPath)).rejects.toThrow("ENOENT");
});

it("frees what it holds although the folder is gone", async () => {
  await using place = await createPlace();
  await place.write("a", "first");
  await place.repository.take({ refName: "refs/sessions/s/one" });
  await place.repository.take({ refName: "refs/sessions/t/one" });
  await rm(place.at("."), { recursive: true });
  const again = place.reopen();
  await again.forget(await again.refsBelow("refs/sessions/s/"));
  expect(await again.refsBelow("refs/sessions/")).toEqual(["refs/sessions/t/one"]);
  await again.forget(["refs/sessions/t/one"]);
  await expect(lstat(place.repositoryPath)).rejects.toThrow("ENOENT");
});

it.each(["index", "packed-refs", "HEAD", "config", "refs/sessions/s/one"])(
  "is not stopped by a lock of %s that a killed git left behind",
  async (name) => {
    await using place = await createPlace();
    await place.write("a", "first");
    await place.repository.take({ refName: "refs/sessions/s/one" });
    await writeFile(join(place.repositoryPath, `${name}.lock`), "");
    const again = place.reopen();
    await again.take({ refName: "refs/sessions/s/two" });
    await again.forget(["refs/sessions/s/one"]);
    expect(await again.refsBelow("refs/sessions/")).toEqual(["refs/sessions/s/two"]);
  },
);

it("goes on after a call that was ended in the middle", async () => {
  await using place = await createPlace();
  await place.write("a", "first");
  await place.repository.take({ refName: "refs/sessions/s/one" });
  place.onRun = ({ argv }) => {
    if (argv.includes("--stdin")) {
      writeFileSync(join(place.repositoryPath, "packed-refs.lock"), "");
      throw new Error("ended");
    }
  };
  await expect(place.repository.forget(["refs/sessions/s/one"])).rejects.toThrow("ended");
  place.onRun = undefined;
  await place.repository.forget(["refs/sessions/s/one"]);
  await expect(lstat(place.repositoryPath)).rejects.toThrow("ENOENT");
});

it("looks again when the files have changed under its hands", async () => {
  await using place = await createPlace();
  await place.write("a", "first");
  await place.write("b", "first");
  place.onRun = ({ argv }) => {
    if (!argv.includes("--add")) return;
    place.onRun = undefined;
    rmSync(place.at("a"));
    mkdirSync(place.at("a"));
    writeFileSync(place.at("a/inner"), "second");
  };
  expect((await place.repository.take({})).files).toEqual(["a/inner", "b"]);
});

it("does not look where a link in the place of the folder leads", async () => {
  await using place = await createPlace();
  const elsewhere = join(place.outer, "elsewhere");
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, "secret"), "1");
  await rm(place.at("."), { recursive: true });
  await symlink(elsewhere, join(place.outer, "work"));
  await expect(place.repository.take({})).rejects.toMatchObject({ kind: "failedPrecondition" });
});

it("leaves what somebody has changed since it was looked at", async () => {
  await using place = await createPlace();
  for (const path of ["edited", "gone", "link", "removed", "plain"]) await place.write(path, "then");
  const { snapshotId } = await place.repository.take({});
  for (const path of ["edited", "gone", "link", "plain"]) await place.write(path, "now");
  await rm(place.at("removed"));
  await place.write("added", "now");
  await place.write("untouched", "now");
  const present = await place.repository.take({});
  await place.write("edited", "new");
  await rm(place.at("gone"));
  await rm(place.at("link"));
  await symlink("now", place.at("link"));
  await runSpawned({
    argv: ["mkfifo", place.at("removed")],
    workingDirectory: place.outer,
    environment: {},
    timeoutMs: 60_000,
    maxOutputBytes: 1_000,
  });
  await place.write("added", "new");
  const report = await place.restore(snapshotId, present.snapshotId);
  expect(report).toMatchObject({ written: ["plain"], deleted: ["untouched"] });
  expect([...report.problems].sort()).toEqual(
    ["added", "edited", "gone", "link", "removed"].map((path) => `${path}: it was changed meanwhile`),
  );
  expect(await readFile(place.at("edited"), "utf8")).toBe("new");
  expect(await readFile(place.at("added"), "utf8")).toBe("new");
  expect((await lstat(place.at("removed"))).isFIFO()).toBe(true);
});

it("does not delete what was left out while the folder was no repository", async () => {
  await using place = await createPlace();
  await place.write("node_modules/m/index.js", "1");
  const { snapshotId } = await place.repository.take({});
  await place.git("init", "--quiet");
  await place.write("late", "1");
  expect(await place.restore(snapshotId)).toMatchObject({ deleted: ["late"], problems: [] });
  expect(await readFile(place.at("node_modules/m/index.js"), "utf8")).toBe("1");
});

it("runs nothing that a repository names", async () => {
  await using place = await createPlace();
  const mark = join(place.outer, "ran");
  const program = join(place.outer, "program");
  await writeFile(program, `#!/bin/sh\ntouch '${mark}'\ncat\n`, { mode: 0o755 });
  await place.git("init", "--quiet");
  await place.write(".gitattributes", "* filter=bad diff=bad merge=bad\n");
  await place.write("file", "then");
  await place.write("inner/file", "1");
  await place.git("-C", place.at("inner"), "init", "--quiet");
  await place.write(".git/more", `[core]\nfsmonitor = ${program}\nsshCommand = ${program}\n`);
  for (const [at, ...setting] of [
    [".", "include.path", "more"],
    [".", "core.fsmonitor", program],
    [".", "core.hooksPath", place.outer],
    [".", "core.pager", program],
    [".", "filter.bad.clean", program],
    [".", "filter.bad.smudge", program],
    [".", "filter.bad.process", program],
    [".", "filter.bad.required", "true"],
    [".", "diff.external", program],
    [".", "diff.bad.textconv", program],
    [".", "alias.ls-files", `!${program}`],
    ["inner", "core.fsmonitor", program],
    ["inner", "core.worktree", place.outer],
  ] as const) {
    await place.git("-C", place.at(at), "config", ...setting);
  }
  for (const hook of ["post-index-change", "post-checkout", "reference-transaction"]) {
    await writeFile(join(place.outer, hook), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 });
  }
  const { snapshotId } = await place.repository.take({ refName: "refs/sessions/s/one" });
  await place.write("file", "now");
  expect(await place.restore(snapshotId)).toMatchObject({ written: ["file"], problems: [] });
  await place.repository.forget(["refs/sessions/s/one"]);
  await expect(lstat(mark)).rejects.toThrow("ENOENT");
});

it("keeps neither pipes nor names that are no text, and leaves both alone", async () => {
  await using place = await createPlace();
  const odd = Buffer.concat([Buffer.from(`${place.at("odd")}-`), Buffer.from([0xff])]);
  await place.write("-rf", "1");
  await place.write("A", "upper");
  await place.write("a", "lower");
  await writeFile(odd, "1");
  const pipe = { workingDirectory: place.outer, environment: {}, timeoutMs: 60_000, maxOutputBytes: 1_000 };
  await runSpawned({ ...pipe, argv: ["mkfifo", place.at("pipe")] });
  const { snapshotId, files } = await place.repository.take({});
  expect(files).toEqual(["-rf", "A", "a"]);
  for (const path of files) await place.write(path, "changed");
  expect(await place.restore(snapshotId)).toMatchObject({ written: ["-rf", "A", "a"], deleted: [] });
  expect(await readFile(place.at("A"), "utf8")).toBe("upper");
  expect(await readFile(odd, "utf8")).toBe("1");
  expect((await lstat(place.at("pipe"))).isFIFO()).toBe(true);
});

/** A folder to keep, inside an outer one that also has the repository of the snapshots. */
async function createPlace() {
  const folder = await temporaryFolder();
  const work = join(folder.path, "work");
  await mkdir(work);
  const at = (path: string): string => join(work, path);
  const repositoryPath = join(folder.path, "snapshots");
  const open = (): SnapshotRepository =>
    new SnapshotRepository({
      run: async (request) => {
        place.onRun?.(request);
        return await runSpawned(request);
      },
      path: repositoryPath,
      folder: work,
      excluded: at("data"),
      maxBytes: MAX_BYTES,
    });
  const repository = open();
  let nameCount = 0;
  const git = async (...argv: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await runSpawned({
      argv: ["git", ...argv],
      workingDirectory: work,
      environment: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
      timeoutMs: 60_000,
      maxOutputBytes: 1_000_000,
    });
    if (exitCode !== 0) throw new Error(stderr);
    return Buffer.from(stdout).toString();
  };
  const onRun: ((request: ProgramRequest) => void) | undefined = undefined;
  const place = {
    at,
    outer: folder.path,
    repository,
    /** As another process would open it. */
    reopen: open,
    /** Told of each program before it runs. */
    onRun: onRun as ((request: ProgramRequest) => void) | undefined,
    repositoryPath,
    git,
    async write(path: string, content: string | Uint8Array): Promise<void> {
      await mkdir(dirname(at(path)), { recursive: true });
      await writeFile(at(path), content);
    },
    async restore(toId: string, fromId?: string) {
      const from = fromId ?? (await repository.take({ also: await repository.filesOf(toId) })).snapshotId;
      const changes = await repository.changes(from, toId);
      const sizes = await repository.sizesOf(changes.flatMap(({ to }) => to?.blobId ?? []));
      return restoreFiles(changes, {
        folder: work,
        blobs: repository.read(sizes),
        newName: () => `.trivium-${++nameCount}`,
      });
    },
    /** Everything in the user's repository, byte by byte. */
    async gitFiles(): Promise<Map<string, string>> {
      const names = await readdir(at(".git"), { recursive: true, withFileTypes: true });
      const files = names
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      return new Map(
        await Promise.all(
          files.sort().map(async (path) => [path, (await readFile(path)).toString("base64")] as const),
        ),
      );
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
  return place;
}
