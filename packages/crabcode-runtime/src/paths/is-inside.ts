import { isAbsolute, relative, sep } from "node:path";

/** True when `path` is `folder` or lies below it. Both are absolute, their symbolic links resolved. */
export function isInside(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}
