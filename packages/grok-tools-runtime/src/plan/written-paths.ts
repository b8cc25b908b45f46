import { resolve } from "node:path";
import { toModelPath } from "../files/model-path.ts";
import type { AdmittedCall } from "../session-resource.ts";

const pathParameters = ["file_path", "filePath", "path", "target_file"];
const patchParameters = ["patch", "input"];

/** Absolute paths that an editing call would write, as far as its input says; empty when it does not. */
export function writtenPaths(call: AdmittedCall, homeDirectory: string | undefined): string[] {
  const { input, workingDirectory } = call;
  const texts = (names: readonly string[]): string[] =>
    names.flatMap((name) => {
      const value = input[name];
      return typeof value === "string" ? [value] : [];
    });
  const named = texts(pathParameters).map(
    (path) => toModelPath(path, { workingDirectory, homeDirectory }).path,
  );
  const patched = texts(patchParameters)
    .flatMap(pathsOfPatch)
    .map((path) => resolve(workingDirectory, path));
  return [...named, ...patched];
}

/**
 * Every file that a patch names, the targets of moves included. Read as generously as a patch tool could: a path too
 * many only refuses the patch.
 */
function pathsOfPatch(patch: string): string[] {
  return patch.split("\n").flatMap((line) => {
    // Not `.`, which stops at line separators that can be part of a path.
    const path = /^\s*\*\*\*\s*(?:(?:Add|Update|Delete) File|Move to):\s?([^]*)$/.exec(line)?.[1];
    return path === undefined ? [] : [path.replace(/[ \t\r]+$/, "")];
  });
}
