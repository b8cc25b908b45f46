import { z } from "zod";
import type { ToolOutputDefinition } from "../../../tool.ts";

/** The union value `Skill`. */
export const skillOutput: ToolOutputDefinition = {
  schema: z.object({
    type: z.literal("Skill"),
    success: z.boolean(),
    tool_result: z.string(),
    skill_name: z.string(),
    skill_message: z.string().nullable(),
    error: z.string().nullable(),
  }),
  fields: [
    { name: "success", description: "Whether the skill was loaded.", type: "boolean" },
    { name: "tool_result", description: "What happened, in one sentence.", type: "string" },
    { name: "skill_name", description: "Name of the skill.", type: "string" },
    {
      name: "skill_message",
      description: "The instructions, or null.",
      type: "string",
      potentiallyLarge: true,
    },
    { name: "error", description: "Why it was not loaded, or null.", type: "string" },
  ],
};
