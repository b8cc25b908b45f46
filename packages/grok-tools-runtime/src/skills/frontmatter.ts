import { parse } from "yaml";

/** Longer heads are not looked at. */
export const MAX_FRONTMATTER_BYTES = 4096;

/** A document taken apart. */
export interface SplitDocument {
  /** Text between the two `---` lines; undefined when the document does not begin with one. */
  readonly frontmatter: string | undefined;
  readonly body: string;
}

/** Separates the head of a document from its text. A head that does not end is text. */
export function splitFrontmatter(document: string): SplitDocument {
  const text = document.replace(/^\ufeff/, "");
  const begin = /^---[ \t]*\r?\n/.exec(text);
  if (begin === null) return { frontmatter: undefined, body: text };
  const end = /^---[ \t]*(?:\r?\n|$)/m.exec(text.slice(begin[0].length));
  if (end === null) return { frontmatter: undefined, body: text };
  const from = begin[0].length;
  return {
    frontmatter: text.slice(from, from + end.index),
    body: text.slice(from + end.index + end[0].length),
  };
}

/**
 * The fields of a head. Broken YAML is read again with its plain values quoted; what then remains unreadable yields the
 * name, the description and when to use it, line by line.
 */
export function parseFrontmatter(source: string): Readonly<Record<string, unknown>> {
  return parseYaml(source) ?? parseYaml(withQuotedValues(source)) ?? recoverFields(source);
}

function parseYaml(source: string): Record<string, unknown> | undefined {
  try {
    // No aliases: a short text could stand for a huge value. Silence would swallow errors, not only warnings.
    const value: unknown = parse(source, { logLevel: "error", uniqueKeys: false, maxAliasCount: 0 });
    if (value === null || value === undefined) return {};
    return typeof value === "object" && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    // Written by hand, so it may be anything; there are two more ways to read it.
    return undefined;
  }
}

/** `key: value: more` is no YAML, but what people write. */
function withQuotedValues(source: string): string {
  return source
    .split(/\r?\n/)
    .map((line) => {
      const [, key, value] = /^([\w-]+):[ \t]+(.*\S)[ \t]*$/.exec(line) ?? [];
      if (key === undefined || value === undefined || /^["'[{|>]/.test(value)) return line;
      return `${key}: ${JSON.stringify(value)}`;
    })
    .join("\n");
}

const recoverable = ["name", "description", "when-to-use", "when_to_use"];

function recoverFields(source: string): Record<string, unknown> {
  const fields: [string, string][] = [];
  for (const line of source.split(/\r?\n/)) {
    const [, key = "", value = ""] = /^([\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    const text = value.replace(/^(["'])(.*)\1$/, "$2");
    if (recoverable.includes(key) && text !== "") fields.push([key, text]);
  }
  return Object.fromEntries(fields);
}
