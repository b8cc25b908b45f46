import { TriviumError } from "@trivium/core";
import { type ArtifactFolder, sessionArtifacts } from "../../../media/session-artifacts.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { decodeText, withoutDataUris } from "../../../web/decode-text.ts";
import type { FetchedPage } from "../../../web/fetch-page.ts";
import { htmlToMarkdown } from "../../../web/html/html-to-markdown.ts";
import {
  mediaExtensionOf,
  pageKindOf,
  parseMediaType,
  sniffPage,
  textExtensionOf,
} from "../../../web/media-type.ts";
import type { WebFetchParams } from "../../../web/web-fetch-params.ts";

/** What rendering needs besides the page. */
export interface RenderContext {
  readonly params: WebFetchParams;
  readonly context: ToolContext<WebFetchParams>;
  readonly signal: AbortSignal;
}

/**
 * The answer for a page: its text, or where its file is kept.
 *
 * @throws {@link TriviumError} `failedPrecondition` for a type that cannot be shown or kept, `dataLoss` for a file that
 * is not of its type; the reason of the signal.
 */
export async function renderPage(page: FetchedPage, render: RenderContext): Promise<ToolResult> {
  const announced = parseMediaType(page.contentType);
  const { essence, charset } = announced.essence === "" ? sniffPage(page.body) : announced;
  const kind = pageKindOf(essence);
  switch (kind) {
    case "html": {
      const html = decodeText(page.body, charset, true);
      const markdown = await htmlToMarkdown(html, { base: page.url, signal: render.signal });
      return await textResult(page, { text: withoutDataUris(markdown), type: "markdown" }, render);
    }
    case "text": {
      const text = withoutDataUris(decodeText(page.body, charset, false));
      return await textResult(page, { text, type: essence }, render);
    }
    case "pdf":
      return await fileResult(page, { folder: "downloads", extension: "pdf", type: essence }, render);
    case "image":
    case "video": {
      const extension = mediaExtensionOf(essence, page.body);
      if (extension === undefined) {
        throw new TriviumError("dataLoss", `the content is not ${essence}, as its type says`);
      }
      const folder = kind === "image" ? "images" : "videos";
      return await fileResult(page, { folder, extension, type: essence }, render);
    }
    case "unsupported":
      throw new TriviumError("failedPrecondition", `content of the type ${essence} cannot be read`);
  }
}

async function fileResult(
  page: FetchedPage,
  file: { folder: ArtifactFolder; extension: string; type: string },
  { context }: RenderContext,
): Promise<ToolResult> {
  const artifacts = context.resource(sessionArtifacts);
  const { path } = await artifacts.save(file.folder, file.extension, page.body);
  const text = `The content (${file.type}, ${page.body.length} bytes) was saved to ${path}`;
  return {
    output: contentOutput(page, { content: text, type: file.type, bytes: page.body.length }),
    promptText: statusLine(page) + text,
  };
}

async function textResult(
  page: FetchedPage,
  { text, type }: { text: string; type: string },
  { params, context }: RenderContext,
): Promise<ToolResult> {
  const bytes = Buffer.from(text);
  const content = cutBytes(bytes, params.max_markdown_length);
  const output = contentOutput(page, { content, type, bytes: bytes.length });
  const shown = preview(text, params, context);
  if (shown.length === text.length) {
    return { output, promptText: statusLine(page) + text, truncated: content.length < text.length };
  }
  const path = await keepText(bytes, textExtensionOf(type), context);
  const footer = `[truncated: ${Buffer.byteLength(shown)} of ${bytes.length} bytes shown. ${whereIsTheRest(path, context)}]`;
  return { output, promptText: `${statusLine(page)}${shown}\n\n${footer}`, truncated: true };
}

/** Share of the model's context that a page may take, in characters for each of its tokens. */
const PREVIEW_SHARE = 0.03;

function preview(text: string, params: WebFetchParams, { limits }: ToolContext<WebFetchParams>): string {
  const wanted = Math.floor(params.context_window_tokens * PREVIEW_SHARE);
  const characters = limits.maxOutputConfigured ? Math.min(wanted, limits.maxOutput) : wanted;
  if (text.length <= characters) return text;
  // Not between the halves of a surrogate pair.
  return text.slice(0, characters).replace(/[\uD800-\uDBFF]$/, "");
}

/** Undefined when there is no room left; the answer then says so. */
async function keepText(
  bytes: Buffer,
  extension: string,
  context: ToolContext<WebFetchParams>,
): Promise<string | undefined> {
  try {
    return (await context.resource(sessionArtifacts).save("web_fetch", extension, bytes)).path;
  } catch (thrown) {
    if (TriviumError.isInstance(thrown)) return undefined;
    throw thrown;
  }
}

function whereIsTheRest(path: string | undefined, context: ToolContext<WebFetchParams>): string {
  if (path === undefined) return "The whole text could not be kept, the session has no room for it";
  const reader = context.toolName("read") ?? context.toolName("execute");
  const how = reader === undefined ? "" : `; use ${reader} to read more of it`;
  return `The whole text is in ${path}${how}`;
}

function statusLine({ status }: FetchedPage): string {
  return status >= 200 && status < 300 ? "" : `The server answered with HTTP status ${status}.\n\n`;
}

function contentOutput(
  { url, status }: FetchedPage,
  { content, type, bytes }: { content: string; type: string; bytes: number },
): ToolResult["output"] {
  return {
    type: "WebFetch",
    Content: { url: url.href, content, content_type: type, status_code: status, bytes },
  };
}

/** At most so many bytes of a text, ending between characters. */
function cutBytes(bytes: Buffer, maxBytes: number): string {
  if (bytes.length <= maxBytes) return bytes.toString("utf8");
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}
