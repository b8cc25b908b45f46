import { ErrorCode } from "@trivium/proto/grok-tools";
import type { OpenFile } from "../../../files/open-file.ts";
import type { ToolResult } from "../../../tool.ts";
import { imageSizeOf } from "./image-header.ts";
import type { ReadFailure } from "./read-failure.ts";

/** Pictures within these limits are handed on as they are. */
const MAX_BASE64_BYTES = 786_432;
const MAX_SIDE_PIXELS = 2000;
const MAX_AREA_PIXELS = 1_048_576;
/** Base64 has four characters for three bytes. */
const MAX_IMAGE_BYTES = (MAX_BASE64_BYTES / 4) * 3;

/** An image to show. */
export interface ImageTarget {
  readonly file: OpenFile;
  readonly display: string;
  readonly mimeType: string;
}

/**
 * Hands on a complete picture that is small enough. There is no codec, so a larger one, or one in a format that models
 * do not take, is refused with what it would have to be.
 */
export async function readImage({ file, display, mimeType }: ImageTarget): Promise<ToolResult | ReadFailure> {
  if (file.stats.size > MAX_IMAGE_BYTES) {
    return refused(`${display} has ${file.stats.size} bytes, at most ${MAX_IMAGE_BYTES} can be shown`);
  }
  const bytes = await file.handle.readFile();
  const size = imageSizeOf(bytes, mimeType);
  if (size === undefined) {
    return refused(`${display} (${mimeType}) cannot be shown; complete PNG, JPEG, WebP and GIF pictures can`);
  }
  const { width, height } = size;
  if (width > MAX_SIDE_PIXELS || height > MAX_SIDE_PIXELS || width * height > MAX_AREA_PIXELS) {
    return refused(
      `${display} has ${width} x ${height} pixels; at most ${MAX_SIDE_PIXELS} on a side and ${MAX_AREA_PIXELS} in all can be shown`,
    );
  }
  return {
    output: { type: "ReadFile", ImageContent: { data: bytes.toString("base64"), mime_type: mimeType } },
    promptText: `[image: ${mimeType}]`,
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
