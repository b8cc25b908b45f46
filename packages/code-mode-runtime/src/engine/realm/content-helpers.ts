import type { Conversions, Helper, ServiceState } from "./realm-types.ts";

/** `text`, `image`, `audio`, `generatedImage`, `content`. Part of the service realm; sent as source text. */
export function createContentHelpers(
  state: ServiceState,
  conversions: Conversions,
): Readonly<Record<string, Helper>> {
  const { own, parse, toJson, toText } = conversions;
  const iteratorKey: typeof Symbol.iterator = Symbol.iterator;
  const dataUrl = /^data:/i;
  const webUrl = /^https?:/i;
  const contentFailure = "content expects one MCP content block, or an iterable of blocks, of a known type";
  const imageShape = "image expects a data: URL, an object with a string image_url, or an MCP image block";
  const audioShape = "audio expects a data: URL, an object with a string audio_url, or an MCP audio block";

  const isDetail = (text: string): boolean =>
    text === "auto" || text === "low" || text === "high" || text === "original";

  /** The URL of an MCP block of the wanted kind, out of its JSON form. */
  const blockUrl = (block: unknown, kind: string, shape: string): string => {
    const type = own(block, "type");
    if (typeof type !== "string") throw shape;
    if (type !== kind) throw `${kind} got an MCP block of type "${type}" where type "${kind}" is expected`;
    const data = own(block, "data");
    if (typeof data !== "string" || data === "") throw `${kind} block needs a non-empty string data`;
    if (dataUrl.test(data)) return data;
    const mimeType = own(block, "mimeType") ?? own(block, "mime_type");
    const mime = typeof mimeType === "string" && mimeType !== "" ? mimeType : "application/octet-stream";
    return `data:${mime};base64,${data}`;
  };

  const blockDetail = (block: unknown): string | undefined => {
    const detail = own(own(block, "_meta"), "codex/imageDetail");
    return typeof detail === "string" && isDetail(detail) ? detail : undefined;
  };

  const emitImage = (url: string, detail: unknown): void => {
    if (url === "") throw "image needs a non-empty image_url";
    if (!dataUrl.test(url)) {
      if (webUrl.test(url)) throw "image does not load http or https URLs: pass a data: URL";
      throw "image needs a data: URL";
    }
    let chosen = "high";
    if (detail !== undefined && detail !== null) {
      if (typeof detail !== "string") throw "image detail must be a string";
      chosen = detail.toLowerCase();
      if (!isDetail(chosen)) throw "image detail must be one of auto, low, high, original";
    }
    state.send("image", url.toWellFormed(), chosen);
  };

  const emitAudio = (url: string): void => {
    if (url === "") throw "audio needs a non-empty audio_url";
    if (!dataUrl.test(url)) throw "audio needs a data: URL";
    state.send("audio", url.toWellFormed());
  };

  const property = (value: unknown, key: string): unknown =>
    (typeof value === "object" && value !== null) || typeof value === "function"
      ? // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- read as the script would, getters and prototypes included
        (value as Record<string, unknown>)[key]
      : undefined;

  const image = (value: unknown, detail: unknown): void => {
    if (detail !== undefined && detail !== null && typeof detail !== "string") {
      throw "image detail must be a string";
    }
    const hasDetail = typeof detail === "string";
    if (typeof value === "string") {
      emitImage(value, detail);
      return;
    }
    const url = property(value, "image_url");
    if (typeof url === "string") {
      const embedded = property(value, "detail");
      if (embedded !== undefined && embedded !== null && typeof embedded !== "string") {
        throw "image detail must be a string";
      }
      emitImage(url, hasDetail ? detail : embedded);
      return;
    }
    if (value === undefined) throw imageShape;
    const block = parse(toJson(value, "image could not serialize its argument"));
    const blockText = blockUrl(block, "image", imageShape);
    emitImage(blockText, hasDetail ? detail : blockDetail(block));
  };

  const audio = (value: unknown): void => {
    if (typeof value === "string") {
      emitAudio(value);
      return;
    }
    const url = property(value, "audio_url");
    if (typeof url === "string") {
      emitAudio(url);
      return;
    }
    if (value === undefined) throw audioShape;
    emitAudio(blockUrl(parse(toJson(value, "audio could not serialize its argument")), "audio", audioShape));
  };

  const generatedImage = (result: unknown): void => {
    if ((typeof result !== "object" && typeof result !== "function") || result === null) {
      throw "generatedImage expects an object with an image";
    }
    const hint = property(result, "output_hint");
    if (hint !== undefined && typeof hint !== "string") throw "generatedImage output_hint must be a string";
    image(result, undefined);
    if (hint !== undefined) state.send("text", hint.toWellFormed());
  };

  const emitBlock = (value: unknown): void => {
    if (typeof value !== "object" || value === null) throw contentFailure;
    const json = toJson(value, "content could not serialize a block");
    const block = parse(json);
    switch (own(block, "type")) {
      case "text": {
        const text = own(block, "text");
        if (typeof text !== "string") throw contentFailure;
        state.send("text", text.toWellFormed());
        return;
      }
      case "image":
      case "audio": {
        const data = own(block, "data");
        if (typeof data !== "string" || data === "") throw contentFailure;
        if (own(block, "type") === "image")
          emitImage(blockUrl(block, "image", contentFailure), blockDetail(block));
        else emitAudio(blockUrl(block, "audio", contentFailure));
        return;
      }
      case "resource":
      case "resource_link":
        state.send("text", json.toWellFormed());
        return;
      default:
        throw contentFailure;
    }
  };

  const content = (value: unknown): void => {
    if (typeof value !== "object" || value === null) throw contentFailure;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- asked, not assumed
    const iterable = value as Partial<Iterable<unknown>>;
    if (typeof iterable[iteratorKey] !== "function") {
      emitBlock(value);
      return;
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has an iterator
    for (const block of value as Iterable<unknown>) emitBlock(block);
  };

  return {
    text: { run: (value) => state.send("text", toText(value)) },
    image: { run: image },
    audio: { run: audio },
    generatedImage: { run: generatedImage },
    content: { run: content, name: "content", length: 1 },
  };
}
