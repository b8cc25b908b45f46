import { z } from "zod";
import { makeImage } from "../../../media/media-api.ts";
import {
  aspectRatios,
  checkPrompt,
  mediaDependency,
  mediaOutput,
  runMediaCall,
} from "../../../media/media-tool.ts";
import { defineTool, type Tool } from "../../../tool.ts";

const input = z.object({
  prompt: z.string().describe("What the picture shows, and in which style."),
  aspect_ratio: z.enum(aspectRatios).default("auto").describe("Width to height."),
});

/** GrokBuild:image_gen: a picture from a description. */
export const imageGen: Tool = defineTool({
  id: "GrokBuild:image_gen",
  kind: "image_gen",
  capabilities: { readOnly: false, cancellable: true },
  description: "Makes a picture from a description and saves it; the answer gives the path of the file.",
  input,
  output: mediaOutput("ImageGen"),
  dependency: mediaDependency("image"),
  async run({ prompt, aspect_ratio }, context) {
    checkPrompt(prompt, context);
    return await runMediaCall({
      kind: "image",
      type: "ImageGen",
      context,
      make: (api) => makeImage(api, "images/generations", { prompt, aspect_ratio, resolution: "1k" }),
    });
  },
});
