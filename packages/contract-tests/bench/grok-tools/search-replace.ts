import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { alternate, median, quantile, report, treeCpuMs } from "./measure.ts";
import { openTools } from "./tools-server.ts";

const LINE = `${"a line of an ordinary length, as programs have them".padEnd(63)}\n`;

/**
 * `search_replace` in a file of 1 MiB. The tool always flushes to the disk, so the time without that is taken in a file
 * system that has none.
 */
export async function benchSearchReplace(): Promise<void> {
  await using disk = await temporaryFolder();
  const memory = await mkdtemp("/dev/shm/trivium-bench-");
  await using tools = await openTools(["GrokBuild:search_replace", "GrokBuild:read_file"]);
  const { session, server } = tools;
  try {
    const edit = async (folder: string) => {
      const path = join(folder, "file.txt");
      await writeFile(path, `${LINE.repeat(8_192)}the value is 0\n${LINE.repeat(8_192)}`);
      let value = 0;
      return async () => {
        const old_string = `the value is ${value}\n`;
        value += 1;
        const new_string = `the value is ${value}\n`;
        await session.callOrThrow("search_replace", { file_path: path, old_string, new_string });
      };
    };
    const cpuMs = (): number => treeCpuMs(server.pid);
    const small = join(disk.path, "small.txt");
    await writeFile(small, "small\n");
    const sides = await alternate(
      {
        unflushed: { run: await edit(memory), cpuMs },
        flushed: { run: await edit(disk.path), cpuMs },
        least: { run: () => session.callOrThrow("read_file", { target_file: small }), cpuMs },
      },
      { blocks: 10 },
    );
    const { unflushed, flushed, least } = sides;
    report("search_replace in 1 MiB, nothing to flush", median(unflushed.wallMs), {
      limit: 5,
      unit: "ms",
      note: [
        `best tenth ${quantile(unflushed.wallMs, 0.1).toFixed(2)} ms`,
        `${unflushed.cpuMs.toFixed(2)} ms CPU`,
        `on the disk, flushed: ${median(flushed.wallMs).toFixed(2)} ms`,
        `reading a file of one line: ${median(least.wallMs).toFixed(2)} ms, ${least.cpuMs.toFixed(2)} ms CPU`,
      ].join("; "),
    });
  } finally {
    await rm(memory, { recursive: true });
  }
}
