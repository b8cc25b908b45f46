import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { isInsideRoots } from "../files/path-jail.ts";
import { ToolError } from "../tool-error.ts";

/**
 * The folder of a call, without symbolic links.
 *
 * @throws {@link ToolError} INVALID_INPUT when it is no folder, PERMISSION_DENIED outside the roots.
 */
export async function resolveCallDirectory(
  wanted: string | undefined,
  {
    sessionDirectory,
    workspaceRoots,
  }: { sessionDirectory: string; workspaceRoots: readonly string[] | undefined },
): Promise<string> {
  if (wanted === undefined || wanted === "") return sessionDirectory;
  const path = resolve(sessionDirectory, wanted);
  const directory = await realDirectory(path);
  if (directory === undefined) {
    throw new ToolError(ErrorCode.INVALID_INPUT, `working_directory ${path} is not an existing directory`, {
      filePath: path,
      details: { field: "working_directory" },
    });
  }
  if (!isInsideRoots(directory, workspaceRoots)) {
    throw new ToolError(
      ErrorCode.PERMISSION_DENIED,
      `working_directory ${path} is outside the workspace roots`,
      {
        filePath: path,
        details: { reason: "outside_roots" },
      },
    );
  }
  return directory;
}

/** The real path of an existing directory; undefined for anything else. */
export async function realDirectory(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    // Missing, not accessible, a loop of links: not a directory anyone can work in.
    return undefined;
  }
}
