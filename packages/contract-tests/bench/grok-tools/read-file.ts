import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { median, quantile, report, residentMiB, timeOf } from "./measure.ts";
import { openTools, resetPeak } from "./tools-server.ts";

const FILE_BYTES = 100_000_000;
const WINDOW = 200;
const LINE = `${"a line of an ordinary length, as programs have them".padEnd(63)}\n`;
const LINES = Math.floor(FILE_BYTES / LINE.length);

/** Windows of 200 lines in a file of 100 MB: near its beginning, and anywhere, never read before. */
export async function benchReadFile(): Promise<void> {
  await using tools = await openTools(["GrokBuild:read_file"]);
  const { session, server } = tools;
  const paths = Array.from({ length: 6 }, (_, index) => join(server.workspace, `large-${index}.txt`));
  for (const path of paths) await writeLarge(path);
  const read = (target_file: string, offset: number) =>
    session.callOrThrow("read_file", { target_file, offset, limit: WINDOW });
  for (let round = 0; round < 30; round++) await read(paths[0] ?? "", 1 + round);
  const idle = residentMiB(server.pid);
  resetPeak(server.pid);
  const head: number[] = [];
  for (let round = 0; round < 100; round++)
    head.push(await timeOf(() => read(paths[0] ?? "", 1 + round * 7)));
  // Each file is new to the server, so its lines have to be counted up to the window.
  const first: number[] = [];
  for (const path of paths.slice(1)) first.push(await timeOf(() => read(path, LINES - 3 * WINDOW)));
  const later: number[] = [];
  for (let round = 0; round < 100; round++) {
    later.push(await timeOf(() => read(paths[1] ?? "", 1 + ((round * 104_729) % (LINES - WINDOW)))));
  }
  const small = join(server.workspace, "small.txt");
  await writeFile(small, "small\n");
  const least: number[] = [];
  for (let round = 0; round < 100; round++) least.push(await timeOf(() => read(small, 1)));
  const growth = residentMiB(server.pid, "peak") - idle;
  report("200 lines near the head of 100 MB", median(head), {
    limit: 5,
    unit: "ms",
    note: `best tenth ${quantile(head, 0.1).toFixed(2)} ms; a file of one line ${median(least).toFixed(2)} ms, best tenth ${quantile(least, 0.1).toFixed(2)} ms`,
  });
  const slowest = `${Math.min(...first).toFixed(1)} to ${Math.max(...first).toFixed(1)} ms of ${first.length}`;
  report("200 lines near the end, file unknown", median(first), { limit: 100, unit: "ms", note: slowest });
  report("200 lines anywhere, file known", median(later), { limit: 100, unit: "ms" });
  report("memory above idle meanwhile", growth, { limit: 64, unit: "MiB" });
}

async function writeLarge(path: string): Promise<void> {
  const block = Buffer.from(LINE.repeat(16_384));
  const file = await open(path, "w");
  try {
    for (let left = FILE_BYTES; left > 0; left -= block.length) await file.write(block.subarray(0, left));
  } finally {
    await file.close();
  }
}
