import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemCodeOf } from "../file-error.ts";
import { toModelPath } from "../files/model-path.ts";
import { isNotRegular, openFile } from "../files/open-file.ts";
import { OpenFolder } from "../files/open-folder.ts";
import type { Roots } from "../files/path-jail.ts";
import type { SessionScope } from "../session-resource.ts";
import type { PlanParams } from "./plan-params.ts";

/** What a plan file was when the plan mode began; it exists afterwards unless it is missing. */
export type PlanFileSeed =
  | "empty"
  | "non_empty"
  | { readonly missing: "not_a_file" | "inaccessible" | "not_created" | "unavailable" };

/** Bytes of a plan that are read. */
const MAX_PLAN_BYTES = 1024 * 1024;

/** Absolute path of the plan; undefined when it cannot be told: `~` on a server without a home. */
export function planFilePath({ plan_file }: PlanParams, scope: SessionScope): string | undefined {
  const { sessionDirectory, homeDirectory } = scope;
  if (plan_file === null) return join(sessionDirectory, ".grok", "plan.md");
  const { path, argument } = toModelPath(plan_file, { workingDirectory: sessionDirectory, homeDirectory });
  const needsHome = argument === "~" || argument.startsWith("~/");
  return needsHome && homeDirectory === undefined ? undefined : path;
}

/** A plan file that was looked at. */
export interface SeededPlanFile {
  readonly seed: PlanFileSeed;
  /** It was made. */
  readonly isNew: boolean;
}

/** Looks at the plan and makes an empty one when there is none. What is there stays as it is. */
export async function seedPlanFile(path: string, roots: Roots): Promise<SeededPlanFile> {
  try {
    await using file = await openFile(path, roots);
    return { seed: file.sizeBytes === 0 ? "empty" : "non_empty", isNew: false };
  } catch (cause) {
    if (systemCodeOf(cause) !== "ENOENT") return { seed: { missing: missingOf(cause) }, isNew: false };
  }
  return await createEmpty(path, roots);
}

/** The text of the plan, at most a mebibyte of it; undefined when it cannot be read. */
export async function readPlanFile(path: string, roots: Roots): Promise<string | undefined> {
  try {
    await using file = await openFile(path, roots);
    const buffer = Buffer.alloc(Math.min(file.sizeBytes, MAX_PLAN_BYTES));
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.toString("utf8", 0, length);
  } catch {
    // Without a plan there is nothing to show, whatever the reason.
    return undefined;
  }
}

async function createEmpty(path: string, roots: Roots): Promise<SeededPlanFile> {
  try {
    await using folder = await OpenFolder.open(dirname(path), { roots, create: true });
    const handle = await open(folder.entry(basename(path)), "wx");
    await handle.close();
    return { seed: "empty", isNew: true };
  } catch (cause) {
    // A link to nothing, or made by somebody else a moment ago.
    const missing = systemCodeOf(cause) === "EEXIST" ? "inaccessible" : "not_created";
    return { seed: { missing }, isNew: false };
  }
}

/** A folder, pipe or device is no file; what else cannot be opened may be one. */
function missingOf(cause: unknown): "not_a_file" | "inaccessible" {
  return systemCodeOf(cause) === "EISDIR" || isNotRegular(cause) ? "not_a_file" : "inaccessible";
}
