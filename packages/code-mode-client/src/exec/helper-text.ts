/** The helpers of a program, each with its signature, as a model is told of them. */
export function helperText({ hidesImageDetail }: { readonly hidesImageDetail: boolean }): string {
  const detail = hidesImageDetail ? "" : ', detail?: "auto" | "low" | "high" | "original"';
  const imageObject = hidesImageDetail
    ? "{ image_url: string }"
    : '{ image_url: string; detail?: "auto" | "low" | "high" | "original" | null }';
  return [
    "Global helpers:",
    "- `text(value: unknown): void` adds a text item to the output. Values that are no strings are written as JSON where they have a JSON form.",
    `- \`image(image: string | ${imageObject} | ImageContent${detail}): void\` adds an image. It takes a base64 \`data:\` URL, an object with one, or an MCP image block.`,
    "- `audio(audio: string | { audio_url: string } | AudioContent): void` adds sound from a base64 `data:` URL or an MCP audio block.",
    "- `generatedImage(result: { image_url: string; output_hint?: string }): void` adds the image of an image tool's result, and its hint as text.",
    "- `content(blocks: ContentBlock | Iterable<ContentBlock>): void` adds MCP content blocks.",
    "- `store(key: string, value: unknown): void` keeps a JSON value for later `exec` calls of this session.",
    "- `load(key: string): unknown` gives a copy of a stored value, or `undefined`.",
    "- `notify(value: unknown): void` sends a message out at once, while the program runs on.",
    "- `tools` holds the functions of the nested tools; `ALL_TOOLS: Array<{ name: string; description: string }>` describes them.",
    '- `as_settled(inputs: Iterable<unknown> | Map<unknown, unknown>): AsyncGenerator<{ index: unknown; status: "fulfilled"; value: unknown } | { index: unknown; status: "rejected"; reason: unknown }>` gives results in the order in which they come.',
    "- `stream_settled(inputs: Iterable<unknown>, callback: (result: unknown) => unknown): Promise<void>` calls back with each of those results.",
    "- `setTimeout(callback: () => void, delayMs?: number): number` and `clearTimeout(id?: number): void`. A timer does not keep the program alive: await a promise.",
    "- `yield_control(): void` hands over the output so far while the program runs on.",
    "- `exit(): never` ends the program successfully at once.",
  ].join("\n");
}
