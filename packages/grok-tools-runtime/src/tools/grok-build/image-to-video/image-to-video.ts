import { z } from "zod";
import { absentable, lenientInteger } from "../../../input/lenient.ts";
import { makeVideo } from "../../../media/media-api.ts";
import { imageReference } from "../../../media/media-reference.ts";
import { mediaDependency, mediaOutput, runMediaCall } from "../../../media/media-tool.ts";
import { defineTool, type Tool } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";

const input = z.object({
  image: z.string().describe("Picture to start from: absolute path, data: URL, or [Image #n]."),
  prompt: absentable(z.string()).describe("What happens in the film."),
  duration: lenientInteger().default(6).describe("Seconds: 6 or 10."),
  resolution_name: z.enum(["480p", "720p"]).default("480p").describe("Size of the film."),
});

/** GrokBuild:image_to_video: a film that starts with a picture. */
export const imageToVideo: Tool = defineTool({
  id: "GrokBuild:image_to_video",
  kind: "image_to_video",
  capabilities: { readOnly: false, cancellable: true },
  description: "Turns a picture into a short film and saves it; takes up to five minutes.",
  input,
  output: mediaOutput("ImageToVideo"),
  dependency: mediaDependency("video"),
  async run({ image, prompt, duration, resolution_name }, context) {
    if (duration !== 6 && duration !== 10) {
      throw ToolError.invalidField(
        context.parameterName("duration"),
        `a film has 6 or 10 seconds, not ${duration}`,
      );
    }
    const url = await imageReference({ field: context.parameterName("image"), text: image }, context);
    return await runMediaCall({
      kind: "video",
      type: "ImageToVideo",
      context,
      make: (api) =>
        makeVideo(api, {
          ...(prompt !== undefined && { prompt }),
          image: { url },
          duration,
          resolution: resolution_name,
        }),
    });
  },
});
