import { TriviumError } from "@trivium/core";

const NEWLINE = 0x0a;

/**
 * Reads the output of `git cat-file --batch`: of each blob a line `<id> blob <size>`, its bytes and a newline.
 *
 * @throws TriviumError `internal` when one is missing
 */
export function parseBlobs(output: Uint8Array): Map<string, Uint8Array> {
  const blobs = new Map<string, Uint8Array>();
  for (let at = 0; at < output.length; ) {
    const lineEnd = output.indexOf(NEWLINE, at);
    const line = new TextDecoder().decode(output.subarray(at, lineEnd));
    const [, blobId = "", size = ""] = /^([0-9a-f]+) blob (\d+)$/.exec(line) ?? [];
    if (blobId === "") throw new TriviumError("internal", `a snapshot is damaged: ${line}`);
    const start = lineEnd + 1;
    const end = start + Number(size);
    blobs.set(blobId, output.subarray(start, end));
    at = end + 1;
  }
  return blobs;
}

/**
 * Reads the output of `git cat-file --batch-check`: sizes in bytes.
 *
 * @throws TriviumError `internal` when a blob is missing
 */
export function parseSizes(output: Uint8Array): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const line of new TextDecoder().decode(output).split("\n")) {
    if (line === "") continue;
    const [, blobId = "", size = ""] = /^([0-9a-f]+) blob (\d+)$/.exec(line) ?? [];
    if (blobId === "") throw new TriviumError("internal", `a snapshot is damaged: ${line}`);
    sizes.set(blobId, Number(size));
  }
  return sizes;
}
