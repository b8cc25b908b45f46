/** A `content-type` header, understood. */
export interface MediaType {
  /** `type/subtype` in lower case; empty when there is none. */
  readonly essence: string;
  readonly charset: string | undefined;
}

/** Reads a `content-type` header. */
export function parseMediaType(header: string | undefined): MediaType {
  const [essence = "", ...parameters] = (header ?? "").split(";");
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  return { essence: essence.trim().toLowerCase(), charset };
}

/** What is done with a page of some type. */
export type PageKind = "html" | "text" | "pdf" | "image" | "video" | "unsupported";

/** Types outside `text/` whose content is text. */
const TEXT_TYPES =
  /^application\/(json|xml|javascript|ecmascript|x-javascript|typescript|yaml|x-yaml|toml|x-sh|x-httpd-php|sql|graphql|rtf|x-ndjson|jsonl|json-seq|x-www-form-urlencoded|[\w.-]+\+(json|xml|yaml))$|^image\/svg\+xml$|^message\/rfc822$/;

/** The kind of a page by its type. */
export function pageKindOf(essence: string): PageKind {
  if (essence === "text/html" || essence === "application/xhtml+xml") return "html";
  if (essence.startsWith("text/") || TEXT_TYPES.test(essence)) return "text";
  if (essence === "application/pdf" || essence === "application/x-pdf") return "pdf";
  if (essence.startsWith("image/")) return "image";
  if (essence.startsWith("video/")) return "video";
  return "unsupported";
}

/** What a page without a type is taken for. */
export function sniffPage(body: Uint8Array): MediaType {
  const head = Buffer.from(body.subarray(0, 1024)).toString("latin1");
  if (head.startsWith("%PDF-")) return { essence: "application/pdf", charset: undefined };
  if (/^[\s\u00ef\u00bb\u00bf]*(<!doctype html|<html|<head|<body)/i.test(head)) {
    return { essence: "text/html", charset: undefined };
  }
  const isText = !head.includes("\0");
  return { essence: isText ? "text/plain" : "application/octet-stream", charset: undefined };
}

/** Extension of the file a text is kept in. */
export function textExtensionOf(essence: string): "md" | "json" | "jsonl" | "txt" {
  if (essence === "markdown" || essence === "text/markdown") return "md";
  if (/ndjson|jsonl|json-seq/.test(essence)) return "jsonl";
  return /[/+]json$/.test(essence) ? "json" : "txt";
}

interface Signature {
  readonly extension: string;
  matches(head: string): boolean;
}

const signatures: Readonly<Record<string, Signature>> = {
  "image/png": { extension: "png", matches: (head) => head.startsWith("\x89PNG\r\n\x1a\n") },
  "image/jpeg": { extension: "jpg", matches: (head) => head.startsWith("\xff\xd8\xff") },
  "image/gif": { extension: "gif", matches: (head) => /^GIF8[79]a/.test(head) },
  "image/webp": { extension: "webp", matches: (head) => /^RIFF[\s\S]{4}WEBP/.test(head) },
  "video/mp4": { extension: "mp4", matches: (head) => head.slice(4, 8) === "ftyp" },
  "video/webm": { extension: "webm", matches: (head) => head.startsWith("\x1aE\xdf\xa3") },
};
const sameType: Readonly<Record<string, string>> = { "image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg" };

/**
 * Extension for a picture or film whose first bytes are what its type says. Undefined: they are not. Types that are
 * not known here pass, with their subtype as the extension.
 */
export function mediaExtensionOf(essence: string, body: Uint8Array): string | undefined {
  const signature = signatures[sameType[essence] ?? essence];
  if (signature === undefined) {
    const subtype = essence.slice(essence.indexOf("/") + 1).replace(/^x-/, "");
    return /^[a-z0-9]{1,10}$/.test(subtype) ? subtype : "bin";
  }
  const head = Buffer.from(body.subarray(0, 16)).toString("latin1");
  return signature.matches(head) ? signature.extension : undefined;
}
