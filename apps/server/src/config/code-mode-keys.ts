import { z } from "zod";
import { key } from "./config-key.ts";
import { toolRules } from "./tool-rules-schema.ts";

const positive = z.int().positive();

/** Settings of code mode. */
export const codeModeKeys = {
  "codeMode.isolation": key({
    schema: z.enum(["shared", "dedicated"]),
    default: "shared",
    description: "shared: a small pool of worker processes for all cells; dedicated: one process a session.",
  }),
  "codeMode.maxCells": key({
    schema: positive,
    default: 512,
    description: "Live cells of the whole server; past it Execute answers RESOURCE_EXHAUSTED.",
  }),
  "codeMode.keepOversizedOutput": key({
    schema: z.boolean(),
    default: false,
    description:
      "Keeps what fits of an output that is too large for a message, instead of failing as the original does.",
  }),
  "codeMode.maxRequests": key({
    schema: positive,
    default: 1_024,
    description: "Unary code-mode calls in progress; past it RESOURCE_EXHAUSTED.",
  }),
  "codeMode.serverTools": key({
    schema: z.array(z.enum(["grok"])),
    default: [],
    description:
      "grok: programs may call the server's own tools where a session does not say otherwise; see docs/code-mode.md.",
  }),
  "codeMode.serverToolRules": key({
    schema: toolRules,
    default: { deny: [], ask: [], allow: [] },
    description:
      "Which calls of the server's tools programs may make: deny, ask and allow rules; see docs/code-mode.md.",
  }),
} as const;
