/** An image that was embedded in a text. */
export interface ExtractedImage {
  /** Base64. */
  readonly data: string;
  readonly mime_type: string;
}

/** Shorter payloads are left in the text. */
const MIN_PAYLOAD_CHARS = 1024;
const MAX_PAYLOAD_CHARS = 10 * 1024 * 1024;
const MAX_IMAGES_PER_LINE = 5;
const IMAGE_PLACEHOLDER = "[image content will be provided separately]";

// Each part is a plain run of characters, so matching is linear in the line.
const dataUri = /data:(image\/[a-z0-9.+-]{1,64}|application\/pdf);base64,([a-z0-9+/]+={0,2})/gi;

/** Takes long embedded images and PDF documents out of a line; images are appended to `images`. */
export function extractAttachments(line: string, images: ExtractedImage[]): string {
  if (line.length < MIN_PAYLOAD_CHARS || !line.includes(";base64,")) return line;
  let taken = 0;
  return line.replace(dataUri, (found: string, mimeType: string, data: string) => {
    if (data.length < MIN_PAYLOAD_CHARS || data.length > MAX_PAYLOAD_CHARS) return found;
    if (mimeType.toLowerCase() === "application/pdf") {
      return `[PDF attachment removed — ${Math.floor((data.length * 3) / 4 / 1024)} KB]`;
    }
    if (taken === MAX_IMAGES_PER_LINE) return found;
    taken += 1;
    images.push({ data, mime_type: mimeType.toLowerCase() });
    return IMAGE_PLACEHOLDER;
  });
}
