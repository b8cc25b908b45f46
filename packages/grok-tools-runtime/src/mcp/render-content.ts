import type { McpContent, McpResult } from "@trivium/mcp";

/** The content of a result as texts. */
export interface RenderedContent {
  /** For the model: media are named only. */
  readonly text: string;
  /** Media as data URIs, in order. */
  readonly media: readonly string[];
  readonly imageCount: number;
}

/** Base64 characters of all media of a result that are handed on. */
const MAX_MEDIA_CHARS = 10 * 1024 * 1024;

/** Texts joined by line feeds, resources as JSON, media apart; values alone when there is no content. */
export function renderContent({
  content,
  structured,
}: Pick<McpResult, "content" | "structured">): RenderedContent {
  const media: string[] = [];
  let mediaChars = 0;
  const parts = content.map((item) => {
    if (item.kind === "text") return item.text;
    if (item.kind === "resource") return JSON.stringify(item.value);
    mediaChars += item.data.length;
    if (mediaChars > MAX_MEDIA_CHARS) return `[${item.kind}: ${item.mimeType}, too large to hand on]`;
    media.push(`data:${item.mimeType};base64,${item.data}`);
    return `[${item.kind}: ${item.mimeType}]`;
  });
  if (parts.length === 0 && structured !== undefined) parts.push(JSON.stringify(structured));
  return { text: parts.join("\n"), media, imageCount: content.filter(isImage).length };
}

const isImage = ({ kind }: McpContent): boolean => kind === "image";
