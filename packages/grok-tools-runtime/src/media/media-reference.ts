import { isAbsolute } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../files/access-failure.ts";
import { imageTypeOf } from "../files/content-kind.ts";
import { openFile } from "../files/open-file.ts";
import { readableRoots } from "../files/session-roots.ts";
import { shorten } from "../shorten.ts";
import type { ToolContext } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import { imageSizeOf } from "../tools/grok-build/read-file/image-header.ts";
import { shrinkPng } from "../tools/grok-build/read-file/shrink-png.ts";
import { sessionArtifacts } from "./session-artifacts.ts";

/** What pictures are scaled down to before they are sent. */
const caps = { maxSidePixels: 768, maxAreaPixels: 768 * 768, maxBytes: 400 * 1024 } as const;
/** Larger pictures are not decoded. */
const MAX_PIXELS = 12_000_000;
/** Larger files are not read. Formats that cannot be scaled here are sent as they are up to it. */
const MAX_SOURCE_BYTES = 8 * 1024 * 1024;

/** A file that a call refers to: which parameter, and what it says. */
export interface MediaReference {
  /** As the caller calls it. */
  readonly field: string;
  readonly text: string;
}

/**
 * A picture as a `data:` URL, small enough to send: from an absolute path, a `data:` URL, or `[Image #n]` for the n-th
 * picture of this session.
 *
 * @throws {@link ToolError} FILE_NOT_FOUND, PERMISSION_DENIED, and INVALID_INPUT for what is no picture or too large.
 */
export async function imageReference(reference: MediaReference, context: ToolContext): Promise<string> {
  const bytes = await readReference(reference, context);
  const type = imageTypeOf(bytes);
  const size = type === undefined ? undefined : imageSizeOf(bytes, type);
  if (type === undefined || size === undefined) {
    throw invalid(reference, "is not a complete PNG, JPEG, WebP or GIF picture");
  }
  if (size.width * size.height > MAX_PIXELS) {
    throw invalid(
      reference,
      `has ${size.width} x ${size.height} pixels, at most ${MAX_PIXELS} in all are sent`,
      "too_large",
    );
  }
  const fits = Math.max(size.width, size.height) <= caps.maxSidePixels && bytes.length <= caps.maxBytes;
  const sent =
    !fits && type === "image/png" ? ((await shrinkPng(bytes, caps, context.signal)) ?? bytes) : bytes;
  return dataUrl(type, sent);
}

/** A voice: the name of one, or a recording as an absolute path or `data:` URL. Otherwise as {@link imageReference}. */
export async function voiceReference(
  reference: MediaReference,
  context: ToolContext,
): Promise<{ url: string } | { voice_id: string }> {
  const { text } = reference;
  if (!isAbsolute(text) && !text.startsWith("data:")) return { voice_id: text };
  const bytes = await readReference(reference, context);
  const head = bytes.toString("latin1", 0, 12);
  const type = /^RIFF.{4}WAVE/s.test(head)
    ? "audio/wav"
    : /^(ID3|\xff[\xe2-\xfb])/.test(head)
      ? "audio/mpeg"
      : undefined;
  if (type === undefined) throw invalid(reference, "is neither a WAV nor an MP3 recording");
  return { url: dataUrl(type, bytes) };
}

async function readReference(reference: MediaReference, context: ToolContext): Promise<Buffer> {
  const { text } = reference;
  const encoded = /^data:[^,;]{0,100}(?:;[^,;]{0,100}){0,4};base64,/i.exec(text);
  if (encoded !== null) return Buffer.from(text.slice(encoded[0].length), "base64");
  const number = /^\[Image #(\d{1,9})\]$/i.exec(text.trim())?.[1];
  const path =
    number === undefined ? text : await context.resource(sessionArtifacts).find("images", Number(number));
  if (path === undefined) throw missing(reference, `there is no picture ${text} in this session`);
  if (!isAbsolute(path)) {
    throw invalid(reference, "is neither an absolute path, a data: URL, nor [Image #n]");
  }
  return await readWhole(path, reference, context);
}

async function readWhole(path: string, reference: MediaReference, context: ToolContext): Promise<Buffer> {
  try {
    await using file = await openFile(path, readableRoots(context));
    if (file.sizeBytes > MAX_SOURCE_BYTES) {
      throw invalid(
        reference,
        `has ${file.sizeBytes} bytes, at most ${MAX_SOURCE_BYTES} are sent`,
        "too_large",
      );
    }
    const bytes = await file.handle.readFile();
    context.touched({ access: "read", path });
    return bytes;
  } catch (thrown) {
    const { code, reason } = accessFailureOf(thrown, context.signal);
    throw new ToolError(code, `${path} cannot be read${reason === undefined ? "" : ` (${reason})`}`, {
      cause: thrown,
      filePath: path,
      details: { field: reference.field, ...(reason !== undefined && { reason }) },
    });
  }
}

function missing({ field }: MediaReference, message: string): ToolError {
  return new ToolError(ErrorCode.FILE_NOT_FOUND, message, { details: { field } });
}

function invalid({ field, text }: MediaReference, what: string, reason?: string): ToolError {
  return ToolError.invalidField(field, `${shorten(text, 100)} ${what}`, {
    details: reason === undefined ? {} : { reason },
  });
}

function dataUrl(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString("base64")}`;
}
