/**
 * The name of a tool as a JavaScript property: `_`, `$`, ASCII letters and, after the first character, ASCII digits
 * stay; every other character becomes one `_`. An empty name becomes `_`.
 *
 * Contract: code_mode.proto, ToolDefinition.name.
 */
export function toPropertyName(name: string): string {
  return name === "" ? "_" : name.replace(/^[^A-Za-z_$]|[^A-Za-z0-9_$]/gu, "_");
}
