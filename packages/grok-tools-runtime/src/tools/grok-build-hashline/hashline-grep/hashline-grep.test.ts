import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProgramRunner } from "../../../process/program-runner.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext } from "../../../tool.ts";
import { schemeParams } from "../anchors/scheme-params.ts";
import { hashlineRead } from "../hashline-read/hashline-read.ts";
import { hashlineGrep } from "./hashline-grep.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`);
  await writeFile(join(folder.path, "a.txt"), lines.join(""));
});
afterAll(() => folder[Symbol.asyncDispose]());

describe("GrokBuildHashline:hashline_grep", () => {
  it.each([{}, { scheme: "content_only", hash_len: 4 }])(
    "gives lines the anchors of the reading tool with %o",
    async (params) => {
      const context = contextWith(params, [
        event("match", 12, "line 12\n"),
        event("context", 13, "line 13\n"),
      ]);
      const shown = (await hashlineRead.run({ target_file: "a.txt" }, context)).promptText.split("\n");
      const anchorOf = (line: number): string => shown[line - 1]?.split("→")[0] ?? "";
      const { promptText, output } = await hashlineGrep.run({ pattern: "12", "-A": 1 }, context);
      expect(promptText).toContain(
        `${join(folder.path, "a.txt")}\n${anchorOf(12)}:line 12\n${anchorOf(13)}-line 13\n`,
      );
      expect(output["file_matches"]).toMatchObject([{ matches: [{ line_number: 12, content: "line 12" }] }]);
    },
  );

  it("gives no anchor to a line that is another one by now", async () => {
    const context = contextWith({}, [event("match", 12, "was here\n")]);
    const { promptText } = await hashlineGrep.run({ pattern: "was" }, context);
    expect(promptText).toContain("\n12:was here\n");
  });

  it("says for how many files it has no anchors", async () => {
    const context = contextWith({}, [event("match", 1, "gone\n")], "gone.txt");
    const { promptText } = await hashlineGrep.run({ pattern: "gone" }, context);
    expect(promptText).toContain("\n1:gone\n[no anchors for the lines of 1 file;");
  });
});

function event(type: "match" | "context", lineNumber: number, text: string): object {
  const data = { lines: { text }, line_number: lineNumber, absolute_offset: 0, submatches: [] };
  return { type, data };
}

/** A context whose ripgrep prints these events about one file. */
function contextWith(
  params: object,
  events: readonly object[],
  path: string = "a.txt",
): ToolContext<unknown> {
  const of = { path: { text: `./${path}` } };
  const messages = [
    { type: "begin", data: of },
    ...events.map((message) => ({
      ...message,
      ...("data" in message && { data: { ...of, ...(message.data as object) } }),
    })),
    { type: "end", data: { ...of, binary_offset: null } },
    { type: "summary", data: {} },
  ];
  const printed = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
  const end = {
    reason: "exited",
    exitCode: 0,
    signal: null,
    stderr: Buffer.alloc(0),
    durationMs: 1,
  } as const;
  const programRunner: ProgramRunner = {
    run: () =>
      Promise.resolve({
        stdout: (async function* () {
          yield Buffer.from(printed);
        })(),
        ended: Promise.resolve(end),
        stop: () => Promise.resolve(end),
      } as unknown as Awaited<ReturnType<ProgramRunner["run"]>>),
  };
  return toolContext({
    workingDirectory: folder.path,
    programRunner,
    params: schemeParams.schema.parse(params),
  });
}
