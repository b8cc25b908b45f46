import { access, constants } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isInside } from "../paths/is-inside.ts";
import { readRegularFile } from "../text/read-regular-file.ts";
import type { Linter } from "./linter.ts";

const MAX_CONFIG_BYTES = 1024 * 1024;

/** Where a project says how it is linted. */
export interface LinterConfig {
  /** Absolute. */
  readonly folder: string;
  readonly file: string;
}

/** A folder and those above it, up to `top`. */
function* upTo(top: string, folder: string): Generator<string, void, undefined> {
  for (let at = folder; isInside(top, at); at = dirname(at)) {
    yield at;
    if (at === dirname(at)) return;
  }
}

/** The configuration next to `folder`, in it or above it, but not above `top`. */
export function findConfig(
  { configFiles, configSections, emptyConfig }: Linter,
  { folder, top }: { folder: string; top: string },
): LinterConfig | undefined {
  for (const at of upTo(top, folder)) {
    const file = configFiles.find((name) => {
      const text = configText(join(at, name));
      return text !== undefined && emptyConfig?.test(text) !== true;
    });
    if (file !== undefined) return { folder: at, file: join(at, file) };
    const section = configSections.find(({ file: name, pattern }) =>
      pattern.test(configText(join(at, name)) ?? ""),
    );
    if (section !== undefined) return { folder: at, file: join(at, section.file) };
  }
  return undefined;
}

/** The program as the project has installed it for itself; undefined when it has not. */
export async function findLocalProgram(
  { program, localFolders }: Linter,
  { folder, top }: { folder: string; top: string },
): Promise<string | undefined> {
  for (const at of upTo(top, folder)) {
    for (const local of localFolders) {
      const path = join(at, local, program);
      if (await isExecutable(path)) return path;
    }
  }
  return undefined;
}

function configText(path: string): string | undefined {
  try {
    return readRegularFile(path, MAX_CONFIG_BYTES);
  } catch {
    // What cannot be read by us cannot be read by the linter either.
    return undefined;
  }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
