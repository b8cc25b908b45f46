import { ErrorCode } from "@trivium/proto/grok-tools";
import type { OpenFile } from "../../../files/open-file.ts";
import type { ToolResult } from "../../../tool.ts";
import { imageSizeOf } from "./image-header.ts";
import type { ReadFailure } from "./read-failure.ts";
import { shrinkPng } from "./shrink-png.ts";

/** Pictures within these limits are handed on as they are. */
const MAX_BASE64_BYTES = 786_432;
const caps = {
  maxSidePixels: 2000,
  maxAreaPixels: 1_048_576,
  // Base64 has four characters for three bytes.
  maxBytes: (MAX_BASE64_BYTES / 4) * 3,
} as const;
/** Larger files are not read. */
const MAX_SOURCE_BYTES = 32 * 1024 * 1024;

/** An image to show. */
export interface ImageTarget {
  readonly file: OpenFile;
  readonly display: string;
  readonly mimeType: string;
  readonly signal: AbortSignal;
}

/**
 * Hands on a complete picture that is small enough. A PNG that is too large is scaled down; other formats have no
 * codec here, so they are refused with what they would have to be.
 */
export async function readImage({
  file,
  display,
  mimeType,
  signal,
}: ImageTarget): Promise<ToolResult | ReadFailure> {
  if (file.sizeBytes > MAX_SOURCE_BYTES) {
    return refused(`${display} has ${file.sizeBytes} bytes, at most ${MAX_SOURCE_BYTES} are read`);
  }
  const bytes = await file.handle.readFile();
  const size = imageSizeOf(bytes, mimeType);
  if (size === undefined) {
    return refused(`${display} (${mimeType}) cannot be shown; complete PNG, JPEG, WebP and GIF pictures can`);
  }
  const { width, height } = size;
  const fits =
    Math.max(width, height) <= caps.maxSidePixels &&
    width * height <= caps.maxAreaPixels &&
    bytes.length <= caps.maxBytes;
  const shown = fits ? bytes : mimeType === "image/png" ? await shrinkPng(bytes, caps, signal) : undefined;
  if (shown === undefined) {
    return refused(
      `${display} has ${width} x ${height} pixels and ${bytes.length} bytes; at most ${caps.maxSidePixels} pixels on a side, ` +
        `${caps.maxAreaPixels} in all and ${caps.maxBytes} bytes can be shown`,
    );
  }
  const scaled = fits ? "" : `, scaled down from ${width} x ${height} pixels`;
  return {
    output: { type: "ReadFile", ImageContent: { data: shown.toString("base64"), mime_type: mimeType } },
    promptText: `[image: ${mimeType}${scaled}]`,
    imageCount: 1,
  };
}

function refused(problem: string): ReadFailure {
  return {
    kind: "failure",
    variant: "ImageSizeError",
    code: ErrorCode.INVALID_INPUT,
    reason: "too_large",
    text: `Error: ${problem}.`,
    suggestion: "convert or scale the picture first",
  };
}
