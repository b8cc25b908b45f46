import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { systemCodeOf } from "../file-error.ts";
import { accessFailureOf } from "../files/access-failure.ts";
import { toModelPath } from "../files/model-path.ts";
import { openFile } from "../files/open-file.ts";
import type { Roots } from "../files/path-jail.ts";
import type { ToolContext } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import { invalidWorkflow } from "./workflow-error.ts";

/** A script that was found. */
export interface FoundScript {
  readonly source: string;
  /** Absolute. */
  readonly path: string;
}

/** Bytes of a script. */
export const MAX_SCRIPT_BYTES: number = 1024 * 1024;
const extensions = [".js", ".mjs"];

type Folder = { readonly path: string; readonly roots: Roots };

/**
 * Finds a script by its name in `.grok/workflows` of the session's folder, then of the user's home.
 *
 * @throws {@link ToolError} FILE_NOT_FOUND with the names there are; INVALID_INPUT for a name that is none.
 */
export async function findScript(given: string, context: ToolContext): Promise<FoundScript> {
  const name = given.replace(/\.m?js$/, "");
  if (!/^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/.test(name)) {
    throw invalidWorkflow(`${JSON.stringify(given.slice(0, 100))} is no name of a workflow`, {
      details: { field: context.parameterName("name") },
    });
  }
  const folders = await foldersOf(context);
  for (const folder of folders) {
    for (const extension of extensions) {
      const path = join(folder.path, name + extension);
      const source = await readIfThere(path, folder.roots, context);
      if (source !== undefined) return { source, path };
    }
  }
  const names = await namesIn(folders);
  throw new ToolError(ErrorCode.FILE_NOT_FOUND, `there is no workflow ${name}`, {
    filePath: join(context.sessionDirectory, ".grok", "workflows", `${name}.js`),
    suggestion:
      names.length === 0 ? "There are no workflows; give a script." : `There are: ${names.join(", ")}.`,
  });
}

/**
 * Reads a script by its path.
 *
 * @throws {@link ToolError} with the contract's code when it cannot be read.
 */
export async function readScript(given: string, context: ToolContext): Promise<FoundScript> {
  const { path } = toModelPath(given, context);
  const source = await readIfThere(path, context.workspaceRoots, context);
  if (source !== undefined) return { source, path };
  throw new ToolError(ErrorCode.FILE_NOT_FOUND, `there is no script ${path}`, { filePath: path });
}

async function readIfThere(path: string, roots: Roots, context: ToolContext): Promise<string | undefined> {
  try {
    await using file = await openFile(path, roots);
    if (file.sizeBytes > MAX_SCRIPT_BYTES) {
      throw invalidWorkflow(`${path} has ${file.sizeBytes} bytes; a script can have ${MAX_SCRIPT_BYTES}`);
    }
    const source = await file.handle.readFile("utf8");
    context.touched({ access: "read", path });
    return source;
  } catch (thrown) {
    if (systemCodeOf(thrown) === "ENOENT") return undefined;
    const { code, reason } = accessFailureOf(thrown, context.signal);
    throw new ToolError(code, `the script ${path} cannot be read`, {
      cause: thrown,
      filePath: path,
      ...(reason !== undefined && { details: { reason } }),
    });
  }
}

async function foldersOf({
  sessionDirectory,
  homeDirectory,
  workspaceRoots,
}: ToolContext): Promise<Folder[]> {
  const project = { path: join(sessionDirectory, ".grok", "workflows"), roots: workspaceRoots };
  if (homeDirectory === undefined) return [project];
  const own = join(homeDirectory, ".grok", "workflows");
  // The user's own scripts may be used from any project; links in there lead nowhere else.
  const real = await realpath(own).catch(() => undefined);
  return real === undefined ? [project] : [project, { path: own, roots: [real] }];
}

async function namesIn(folders: readonly Folder[]): Promise<string[]> {
  const found = await Promise.all(folders.map(({ path }) => readdir(path).catch((): string[] => [])));
  const scripts = found.flat().filter((name) => extensions.some((extension) => name.endsWith(extension)));
  return [...new Set(scripts.map((name) => name.replace(/\.m?js$/, "")))].sort().slice(0, 50);
}
