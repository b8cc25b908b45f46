import { stat } from "node:fs/promises";
import { join } from "node:path";

/** Files looked at together. */
const STAT_BATCH = 64;

/**
 * Names of files below a folder, those changed last first; equally old ones keep their order.
 *
 * @throws the reason of the signal.
 */
export async function newestFirst(
  folder: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const dated: { name: string; mtimeMs: number }[] = [];
  for (let at = 0; at < names.length; at += STAT_BATCH) {
    signal.throwIfAborted();
    const batch = names.slice(at, at + STAT_BATCH).map((name) => withAge(folder, name));
    dated.push(...(await Promise.all(batch)));
  }
  return dated.sort((one, other) => other.mtimeMs - one.mtimeMs).map(({ name }) => name);
}

async function withAge(folder: string, name: string): Promise<{ name: string; mtimeMs: number }> {
  // Gone meanwhile, or a link to nothing: the oldest.
  const stats = await stat(join(folder, name)).catch(() => undefined);
  return { name, mtimeMs: stats?.mtimeMs ?? 0 };
}
