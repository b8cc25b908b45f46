import { isAbsolute, relative } from "node:path";

/** A path as it is shown: relative to a folder when it is below it. What is no path stays as it is. */
export function shownPath(path: string, directory: string): string {
  if (!isAbsolute(path)) return path;
  const short = relative(directory, path);
  return short === "" || short === ".." || short.startsWith("../") ? path : short;
}
