/**
 * The name of a tool as a JavaScript property: `_`, `$`, ASCII letters and, after the first character, ASCII digits
 * stay; every other character becomes one `_`. An empty name becomes `_`.
 */
export function normaliseToolName(name: string): string {
  let result = "";
  for (const character of name) {
    const isKept = /[A-Za-z_$]/.test(character) || (result !== "" && /[0-9]/.test(character));
    result += isKept ? character : "_";
  }
  return result === "" ? "_" : result;
}
