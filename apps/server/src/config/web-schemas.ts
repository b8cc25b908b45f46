import { z } from "zod";

const text = z.string().min(1);
/** Keys are named, never written down here; a user name in the address would be one. */
const baseUrl = z
  .url({ protocol: /^https?$/ })
  .refine((value) => URL.parse(value)?.username === "", "an address without user name and password");
const keySource = {
  apiKeyEnv: text.optional(),
  apiKeyFile: z.string().startsWith("/", "an absolute path").optional(),
};
const domains = {
  allowedDomains: z.array(text).optional(),
  excludedDomains: z.array(text).optional(),
};

/** `tools.webSearch` */
export const webSearch = z.discriminatedUnion("provider", [
  z.strictObject({ provider: z.literal("searxng"), baseUrl, ...keySource, ...domains }),
  z.strictObject({ provider: z.literal("brave"), baseUrl: baseUrl.optional(), ...keySource, ...domains }),
  z.strictObject({ provider: z.literal("responses"), baseUrl, model: text, ...keySource, ...domains }),
  z.strictObject({ provider: z.literal("command"), argv: z.array(z.string()).min(1), ...domains }),
  z.strictObject({
    provider: z.literal("fixture"),
    results: z.array(z.strictObject({ title: z.string(), url: z.string(), snippet: z.string() })),
    ...domains,
  }),
]);

/** `tools.media.images` and `tools.media.videos` */
export const mediaApi = z.strictObject({ baseUrl, model: text, ...keySource });
