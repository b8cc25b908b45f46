import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "@trivium/core/node";
import { utf8Length } from "../output/truncate.ts";

/** A text that may have been cut. */
export interface BoundText {
  readonly text: string;
  readonly isCut: boolean;
}

export interface BoundOptions {
  readonly maxBytes: number;
  /** Folder of the session. */
  readonly sessionFolder: string;
  readonly callId: string;
}

/**
 * Cuts a text that is too long: its beginning stays, and all of it goes to a file of the session that the end of the
 * text names.
 */
export async function boundOutput(
  text: string,
  { maxBytes, sessionFolder, callId }: BoundOptions,
): Promise<BoundText> {
  const totalBytes = utf8Length(text);
  if (totalBytes <= maxBytes) return { text, isCut: false };
  const folder = join(sessionFolder, "mcp");
  await makeFolder(folder, 0o700);
  const path = join(folder, `${fileNameOf(callId)}.${isJson(text) ? "json" : "txt"}`);
  await writeFile(path, text, { mode: 0o600 });
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  const head = text.slice(0, read);
  const footer = `[truncated: the first ${utf8Length(head)} of ${totalBytes} bytes; all of it is in ${path}]`;
  return { text: `${head}\n\n${footer}`, isCut: true };
}

/** A call id is the caller's, so it may hold anything. */
function fileNameOf(callId: string): string {
  return callId.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 100) || "call";
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Text that only begins like JSON.
    return false;
  }
}
