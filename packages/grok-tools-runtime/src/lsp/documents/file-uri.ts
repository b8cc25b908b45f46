import { fileURLToPath, pathToFileURL } from "node:url";

/** The URI of an absolute path. */
export function toFileUri(path: string): string {
  return pathToFileURL(path).href;
}

/** The path that a URI means, percent-decoded. A URI that is not a file's stays as it is. */
export function pathOfUri(uri: string): string {
  if (!/^file:/i.test(uri)) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    // Escapes that stand for no character, or the host of another machine.
    return uri;
  }
}
