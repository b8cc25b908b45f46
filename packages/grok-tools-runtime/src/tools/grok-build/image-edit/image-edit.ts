import { z } from "zod";
import { lenientStringList } from "../../../input/lenient.ts";
import { makeImage } from "../../../media/media-api.ts";
import { imageReference } from "../../../media/media-reference.ts";
import {
  aspectRatios,
  checkPrompt,
  mediaDependency,
  mediaOutput,
  runMediaCall,
} from "../../../media/media-tool.ts";
import { defineTool, type Tool } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";

const input = z.object({
  prompt: z.string().describe("What to change, or what to make of the pictures."),
  image: lenientStringList().describe(
    "Pictures to start from: absolute paths, data: URLs, or [Image #n] for the n-th picture of this session.",
  ),
  aspect_ratio: z
    .enum(aspectRatios)
    .default("auto")
    .describe("Width to height of the result of several pictures."),
});

/** GrokBuild:image_edit: a picture made from others. */
export const imageEdit: Tool = defineTool({
  id: "GrokBuild:image_edit",
  kind: "image_gen",
  capabilities: { readOnly: false, cancellable: true },
  description:
    "Changes a picture, or combines several, as a description says, and saves the result as a new file.",
  input,
  output: mediaOutput("ImageEdit"),
  dependency: mediaDependency("image"),
  async run({ prompt, image, aspect_ratio }, context) {
    checkPrompt(prompt, context);
    const field = context.parameterName("image");
    if (image.length === 0)
      throw ToolError.invalidField(field, "the list of pictures is empty; name at least one");
    const references: { url: string; type: "image_url" }[] = [];
    for (const [index, text] of image.entries()) {
      // One after the other: scaling is work for the processor.
      // oxlint-disable-next-line no-await-in-loop
      const url = await imageReference({ field: `${field}[${index}]`, text }, context);
      references.push({ url, type: "image_url" });
    }
    const sources = references.length === 1 ? { image: references[0] } : { images: references, aspect_ratio };
    return await runMediaCall({
      kind: "image",
      type: "ImageEdit",
      context,
      make: (api) => makeImage(api, "images/edits", { prompt, ...sources }),
    });
  },
});
