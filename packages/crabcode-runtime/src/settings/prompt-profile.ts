import { z } from "zod";

/** Parts of the system prompt that settings may replace, in their order. */
export const promptSections = [
  "intro",
  "system",
  "doing_tasks",
  "actions",
  "git_safety",
  "using_tools",
  "tone_and_style",
  "output_efficiency",
  "plan",
  "extra_sections",
  "session_guidance",
  "environment",
  "language",
  "tool_results",
] as const;

export type PromptSection = (typeof promptSections)[number];

/** `prompt_profile` of the settings, ready for use. */
export interface PromptProfile {
  /** The line that says who the model is; undefined: ours. */
  readonly prefix: string | undefined;
  /** Texts in place of ours; "" drops a section. */
  readonly sections: ReadonlyMap<PromptSection, string>;
  readonly extraSections: readonly string[];
}

/** No section is replaced. */
export const builtInProfile: PromptProfile = { prefix: undefined, sections: new Map(), extraSections: [] };

const text = z.string().nullish().catch(undefined);
const names = promptSections.filter((name) => name !== "extra_sections");

/** A value that cannot be used counts as absent. */
export const promptProfile: z.ZodType<PromptProfile> = z
  .looseObject({
    prefix: text,
    extra_sections: z.union([z.string().transform((one) => [one]), z.array(z.string())]).catch([]),
  })
  .transform((file): PromptProfile => {
    const sections = names.flatMap((name): [PromptSection, string][] => {
      const value = text.parse(file[name]);
      return value === undefined || value === null ? [] : [[name, value]];
    });
    return {
      prefix: file.prefix ?? undefined,
      sections: new Map(sections),
      extraSections: file.extra_sections,
    };
  })
  .catch(builtInProfile);
