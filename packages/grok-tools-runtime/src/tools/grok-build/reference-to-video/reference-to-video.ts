import { z } from "zod";
import { absentable, lenientInteger, lenientStringList } from "../../../input/lenient.ts";
import { makeVideo } from "../../../media/media-api.ts";
import { imageReference, voiceReference } from "../../../media/media-reference.ts";
import {
  aspectRatios,
  checkPrompt,
  mediaDependency,
  mediaOutput,
  runMediaCall,
} from "../../../media/media-tool.ts";
import { defineTool, type Tool, type ToolContext } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";

const MAX_IMAGES = 7;
const MAX_VOICES = 3;

const input = z.object({
  prompt: z.string().describe("What happens in the film, and what the references are in it."),
  images: absentable(lenientStringList()).describe(
    "At most 7 pictures: absolute paths, data: URLs, or [Image #n].",
  ),
  voices: absentable(lenientStringList()).describe(
    "At most 3 voices: names, or recordings as path or data: URL.",
  ),
  aspect_ratio: z.enum(aspectRatios).describe("Width to height."),
  duration: lenientInteger({ min: 1, max: 15 }).default(6).describe("Seconds, 1 to 15."),
  resolution_name: z.enum(["480p", "720p"]).default("480p").describe("Size of the film."),
});

/** GrokBuild:reference_to_video: a film with given persons, things and voices. */
export const referenceToVideo: Tool = defineTool({
  id: "GrokBuild:reference_to_video",
  kind: "reference_to_video",
  capabilities: { readOnly: false, cancellable: true },
  description:
    "Makes a short film in which given pictures and voices appear, and saves it; takes up to five minutes.",
  input,
  output: mediaOutput("ReferenceToVideo"),
  dependency: mediaDependency("video"),
  async run({ prompt, images = [], voices = [], aspect_ratio, duration, resolution_name }, context) {
    checkPrompt(prompt, context);
    checkCounts(images, voices, context);
    const pictures: { url: string }[] = [];
    for (const [index, text] of images.entries()) {
      // One after the other: scaling is work for the processor.
      // oxlint-disable-next-line no-await-in-loop
      pictures.push({
        url: await imageReference({ field: `${context.parameterName("images")}[${index}]`, text }, context),
      });
    }
    const field = context.parameterName("voices");
    const recordings = await Promise.all(
      voices.map((text, index) => voiceReference({ field: `${field}[${index}]`, text }, context)),
    );
    return await runMediaCall({
      kind: "video",
      type: "ReferenceToVideo",
      context,
      make: (api) =>
        makeVideo(api, {
          prompt,
          ...(pictures.length > 0 && { reference_images: pictures }),
          ...(recordings.length > 0 && { reference_voices: recordings }),
          aspect_ratio,
          duration,
          resolution: resolution_name,
        }),
    });
  },
});

function checkCounts(
  images: readonly string[],
  voices: readonly string[],
  { parameterName }: Pick<ToolContext, "parameterName">,
): void {
  if (images.length === 0 && voices.length === 0) {
    throw ToolError.invalidField(
      parameterName("images"),
      `give at least one picture in ${parameterName("images")} or one voice in ${parameterName("voices")}`,
    );
  }
  if (images.length > MAX_IMAGES) {
    throw ToolError.invalidField(
      parameterName("images"),
      `${images.length} pictures, at most ${MAX_IMAGES} are taken`,
    );
  }
  if (voices.length > MAX_VOICES) {
    throw ToolError.invalidField(
      parameterName("voices"),
      `${voices.length} voices, at most ${MAX_VOICES} are taken`,
    );
  }
}
