import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@trivium/core";
import { sequentialIds, temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { hasContent } from "./current-file.ts";
import { EditEngine } from "./edit-engine.ts";
import { PathLocks } from "./path-locks.ts";
import { replaceText } from "./replace-text.ts";
import { wholeContent } from "./whole-content.ts";

const MIB = 1024 * 1024;
const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("hasContent", () => {
  it.each([0, 1, 100, MIB - 1, MIB, MIB + 1, 2 * MIB])(
    "tells every difference from %i bytes",
    async (size) => {
      await using folder = await temporaryFolder();
      const path = join(folder.path, "f.bin");
      const content = Buffer.alloc(size, "abc");
      const changed = (at: number): Buffer => {
        const copy = Buffer.from(content);
        copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
        return copy;
      };
      const places = [0, size - 1, MIB - 1, MIB].filter((at) => at >= 0 && at < size);
      const others = [
        Buffer.concat([content, Buffer.from("x")]),
        ...(size > 0 ? [content.subarray(0, size - 1)] : []),
        ...places.map(changed),
      ];
      await writeFile(path, content);
      // Two at once have a piece of memory each, and the next ones get it again.
      expect(await Promise.all([hasContent(path, content), hasContent(path, content)])).toEqual([true, true]);
      const verdicts = await Promise.all(others.map((other) => hasContent(path, other)));
      expect(verdicts).toEqual(others.map(() => false));
      expect(await hasContent(path, content)).toBe(true);
      expect(await hasContent(`${path}.none`, content)).toBe(false);
    },
  );
});

const encodings = {
  "utf-8": (text: string) => Buffer.from(text),
  "utf-8 with a mark": (text: string) => Buffer.from(`\ufeff${text}`),
  "utf-16le": (text: string) => Buffer.from(`\ufeff${text}`, "utf16le"),
  "utf-16be": (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16(),
  "utf-8 with bytes that are no text": (text: string) =>
    Buffer.concat([Buffer.from([0xe9, 0x80]), Buffer.from(text), Buffer.from([0xff])]),
};

describe("a receipt", () => {
  const endings = { lf: "\n", crlf: "\r\n" };
  const sizes = { short: 1, long: 4_000 };
  const cases = Object.keys(encodings).flatMap((encoding) =>
    Object.keys(endings).flatMap((ending) =>
      Object.keys(sizes).map((size) => [encoding, ending, size] as const),
    ),
  ) as [keyof typeof encodings, keyof typeof endings, keyof typeof sizes][];

  it.each(cases)("has the hashes of both contents: %s, %s, %s", async (encoding, ending, size) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "f.txt");
    const ids = sequentialIds();
    const engine = new EditEngine({ ids, clock: systemClock, isDurable: false, locks: new PathLocks() });
    const line = `some words é€😀${endings[ending]}`;
    const old = encodings[encoding](`${line.repeat(sizes[size])}first${endings[ending]}${line}first`);
    await writeFile(path, old);
    let before = old;
    for (const [oldString, newString] of [
      ["first", "second\nline"],
      ["some", ""],
      ["words", "much longer words"],
    ] as const) {
      using outcome = await engine.edit({
        path,
        roots: undefined,
        decide(current) {
          const replaced = replaceText(current?.bytes ?? Buffer.alloc(0), {
            oldString,
            newString,
            replaceAll: true,
          });
          if (replaced.kind !== "replaced") throw new Error(replaced.kind);
          return { write: replaced, result: 0 };
        },
      });
      const after = await readFile(path);
      expect(outcome.receipt).toMatchObject({ before_sha256: hashOf(before), after_sha256: hashOf(after) });
      expect(outcome.receipt?.line_ending).toBe(ending);
      before = after;
    }
    using whole = await engine.edit({
      path,
      roots: undefined,
      decide: (current) => ({ write: wholeContent(current, `all of it${endings[ending]}`), result: 0 }),
    });
    const after = await readFile(path);
    expect(whole.receipt).toMatchObject({ before_sha256: hashOf(before), after_sha256: hashOf(after) });
  });
});
