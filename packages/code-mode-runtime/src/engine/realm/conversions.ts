import type { Conversions, ServiceState } from "./realm-types.ts";

/**
 * Part of the service realm: sent as source text, so it uses nothing but its parameters and globals of the language,
 * and those only while it is set up, since they are deleted then.
 *
 * The service realm's own `JSON` and prototypes do the work: nothing that a script replaces takes part, and no frame
 * of them shows in its stacks.
 */
export function createConversions(state: ServiceState): Conversions {
  const { construct, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const { parse, stringify } = JSON;
  const loneSurrogateEscape = /(?:^|[^\\])(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;
  const nestingLimit = 128;
  const ownErrors: readonly (readonly [object, string])[] = [
    [TypeError.prototype, "TypeError"],
    [RangeError.prototype, "RangeError"],
    [SyntaxError.prototype, "SyntaxError"],
    [ReferenceError.prototype, "ReferenceError"],
    [EvalError.prototype, "EvalError"],
    [URIError.prototype, "URIError"],
    [Error.prototype, "Error"],
  ];

  /** The language's conversion to a string, which refuses symbols and runs what the script defines. */
  const asText = (value: unknown): string => {
    // oxlint-disable-next-line typescript/restrict-template-expressions, typescript/no-base-to-string -- meant so
    return `${value}`;
  };

  const own = (value: unknown, key: string): unknown =>
    typeof value === "object" && value !== null ? getOwnPropertyDescriptor(value, key)?.value : undefined;

  const rebuild = (thrown: unknown): unknown => {
    if (typeof thrown !== "object" || thrown === null) return thrown;
    let prototype: object | null;
    try {
      prototype = getPrototypeOf(thrown);
    } catch {
      // Only a proxy of the script can refuse: it is no error of ours.
      return thrown;
    }
    for (let index = 0; index < ownErrors.length; index += 1) {
      const entry = ownErrors[index];
      if (entry === undefined || entry[0] !== prototype) continue;
      const constructor = state.kit.errors[entry[1]];
      if (constructor !== undefined) return construct(constructor, [own(thrown, "message")]);
    }
    return thrown;
  };

  const toErrorText = (thrown: unknown): string => {
    if ((typeof thrown === "object" && thrown !== null) || typeof thrown === "function") {
      try {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any object may have a stack
        const { stack } = thrown as { stack?: unknown };
        if (typeof stack === "string") return stack.toWellFormed();
      } catch {
        // A getter that throws counts as no stack.
      }
    }
    try {
      return asText(thrown).toWellFormed();
    } catch {
      return "";
    }
  };

  const toText = (value: unknown): string => {
    const isPlain = typeof value !== "object" && typeof value !== "function" && typeof value !== "symbol";
    if (isPlain) return asText(value).toWellFormed();
    const json: string | undefined = stringify(value);
    return json === undefined ? "undefined" : json.toWellFormed();
  };

  const isTooDeep = (json: string): boolean => {
    let depth = 0;
    let isInString = false;
    for (let index = 0; index < json.length; index += 1) {
      const character = json[index];
      if (isInString) {
        if (character === "\\") index += 1;
        else if (character === '"') isInString = false;
      } else if (character === '"') isInString = true;
      else if (character === "[" || character === "{") {
        depth += 1;
        if (depth >= nestingLimit) return true;
      } else if (character === "]" || character === "}") depth -= 1;
    }
    return false;
  };

  const toJson = (value: unknown, failure: string): string => {
    const json: string | undefined = stringify(value);
    if (json === undefined) throw failure;
    if (loneSurrogateEscape.test(json)) throw `${failure}: a string holds a lone surrogate`;
    if (isTooDeep(json)) throw `${failure}: it is nested ${nestingLimit} levels or more`;
    return json;
  };

  return { toText, toJson, toErrorText, asText, rebuild, own, parse: (json) => parse(json) };
}
