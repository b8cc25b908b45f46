/** Bytes looked at for a `meta` element, as browsers do. */
const META_BYTES = 1024;

/**
 * The text of a body. The character set is that of a byte order mark, else `charset` (from the header), else the one
 * an HTML page names itself, else UTF-8; names that are unknown are passed over. Bytes that are wrong in it become
 * U+FFFD.
 */
export function decodeText(body: Uint8Array, charset: string | undefined, isHtml: boolean): string {
  const decoder =
    decoderOf(markedCharset(body)) ??
    decoderOf(charset) ??
    (isHtml ? decoderOf(metaCharset(body)) : undefined);
  return (decoder ?? new TextDecoder()).decode(body);
}

function markedCharset(body: Uint8Array): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return "utf-8";
  if (body[0] === 0xfe && body[1] === 0xff) return "utf-16be";
  return body[0] === 0xff && body[1] === 0xfe ? "utf-16le" : undefined;
}

function metaCharset(body: Uint8Array): string | undefined {
  const head = Buffer.from(body.subarray(0, META_BYTES)).toString("latin1");
  const named = /<meta\s[^>]{0,512}?charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1];
  // It was read as ASCII, so it cannot be sixteen bits wide. HTML standard, "prescan a byte stream".
  return named !== undefined && /^utf-16/i.test(named) ? "utf-8" : named;
}

function decoderOf(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    // No such character set.
    return undefined;
  }
}

/** Content of `data:` addresses, which is of no use to a reader, replaced by its type. */
export function withoutDataUris(text: string): string {
  return text.replace(
    /data:([\w.+-]{1,64}\/[\w.+-]{1,64})?(?:;[\w=.+-]{1,64}){0,4};base64,[A-Za-z0-9+/_-]{4,}={0,2}/gi,
    (_uri, type: string | undefined) => `[${type ?? "data"}, base64 content left out]`,
  );
}
