import type { JsonObject } from "../../json.ts";
import type { Tool } from "../../tool.ts";
import { ToolError } from "../../tool-error.ts";

/**
 * A tool that also takes other spellings of its parameters, which models know from its siblings. They are not
 * advertised. `twins` has the other spelling by canonical name.
 */
export function acceptTwins(tool: Tool, twins: Readonly<Record<string, string>>): Tool {
  return {
    ...tool,
    async run(input, context) {
      return await tool.run(withCanonicalNames(input, twins, context.parameterName), context);
    },
  };
}

function withCanonicalNames(
  input: JsonObject,
  twins: Readonly<Record<string, string>>,
  nameOf: (canonicalName: string) => string,
): JsonObject {
  const canonicalOf = new Map(Object.entries(twins).map(([canonical, twin]) => [twin, canonical]));
  const entries = Object.entries(input).map(([key, value]) => {
    const canonical = canonicalOf.get(key);
    if (canonical === undefined) return [key, value] as const;
    if (Object.hasOwn(input, canonical)) {
      const name = nameOf(canonical);
      throw ToolError.invalidField(name, `\`${name}\` and \`${key}\` are the same parameter, give one`);
    }
    return [canonical, value] as const;
  });
  return Object.fromEntries(entries);
}
