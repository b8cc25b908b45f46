import { z } from "zod";

const pattern = z.string().min(1).optional();

const rules = z
  .array(
    z.strictObject({
      tool: z.string().min(1).describe("Name of a tool, * for any characters."),
      path: pattern.describe(
        "Fits the absolute path of the file, or the one relative to the session's folder.",
      ),
      command: pattern.describe("Fits the command."),
    }),
  )
  .default([]);

/** Rules for calls of tools. Deny comes first, then ask, then allow. */
export const toolRules = z.strictObject({ deny: rules, ask: rules, allow: rules });
