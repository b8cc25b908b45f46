import { openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Texts beyond this go through a file: the kernel takes 131 071 bytes in one argument. */
const MAX_ARGUMENT_BYTES = 100_000;

let count = 0;

/** Opens a text for reading through a private file that has no name any more. The caller closes the descriptor. */
export function openText(folder: string, text: string): number {
  const path = join(folder, `${process.pid}-${++count}.text`);
  writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  try {
    return openSync(path, "r");
  } finally {
    rmSync(path, { force: true });
  }
}

/** The text of a `shell … -c TEXT` command that is too long for an argument; undefined for all others. */
export function longShellText(argv: readonly string[]): string | undefined {
  const text = argv.at(-1);
  if (text === undefined || argv.at(-2) !== "-c") return undefined;
  return Buffer.byteLength(text) > MAX_ARGUMENT_BYTES ? text : undefined;
}

/**
 * Replaces the text by one that reads it from descriptor 3. `$0`, `$#` and the exit code are as with `-c TEXT`, and
 * the descriptor is closed for the command itself.
 */
export function withTextFromDescriptor([program, ...rest]: readonly [string, ...string[]]): [
  string,
  ...string[],
] {
  return [program, ...rest.slice(0, -1), 'eval "$(cat <&3)" 3<&-'];
}
