/**
 * Matches a text against a pattern in which `*` stands for any characters, slashes included, `?` for one, and
 * `[…]` for one of a set (`[!…]`: none of it). The whole text must fit.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  return toExpression(pattern).test(text);
}

function toExpression(pattern: string): RegExp {
  let source = "";
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    const close = char === "[" ? pattern.indexOf("]", at + 2) : -1;
    if (char === "*") {
      // One `.*` for a run of stars: several of them backtrack without end.
      if (!source.endsWith(".*")) source += ".*";
    } else if (char === "?") source += ".";
    else if (close > 0) {
      const set = pattern.slice(at + 1, close).replace(/[\\\]^]/g, "\\$&");
      source += set.startsWith("!") ? `[^${set.slice(1)}]` : `[${set}]`;
      at = close;
    } else source += char.replace(/[\\^$.|?*+()[\]{}/]/g, "\\$&");
  }
  try {
    return new RegExp(`^(?:${source})$`, "su");
  } catch {
    // A set that is none, such as `[z-a]`: then the pattern matches itself only.
    return new RegExp(`^${pattern.replace(/[\\^$.|?*+()[\]{}/]/g, "\\$&")}$`, "su");
  }
}
