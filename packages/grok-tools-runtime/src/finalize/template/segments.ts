/** A piece of a template: literal text, an output `${{ … }}` or a block `${% … %}`. Comments are gone. */
export interface Segment {
  readonly type: "text" | "output" | "block";
  /** Text, or the source between the markers. */
  readonly source: string;
}

/** A template that does not follow the syntax, or an expression that cannot be computed. */
export class TemplateError extends Error {
  override readonly name: string = "TemplateError";
}

const typeOfMarker = { "{": "output", "%": "block", "#": "comment" } as const;
const endOfType = { output: "}}", block: "%}", comment: "#}" } as const;

/**
 * Cuts a template at its markers. A `-` inside a marker removes the white space on that side.
 *
 * @throws {@link TemplateError} for a marker without its end.
 */
export function toSegments(template: string): Segment[] {
  const segments: Segment[] = [];
  let position = 0;
  let trimNext = false;
  const addText = (text: string, trimEnd: boolean): void => {
    let source = trimNext ? text.trimStart() : text;
    if (trimEnd) source = source.trimEnd();
    if (source !== "") segments.push({ type: "text", source });
  };
  for (;;) {
    const start = nextMarker(template, position);
    if (start === undefined) break;
    const end = template.indexOf(endOfType[start.type], start.index + 3);
    if (end < 0) throw new TemplateError(`the marker at ${start.index} has no ${endOfType[start.type]}`);
    const inside = template.slice(start.index + 3, end);
    addText(template.slice(position, start.index), inside.startsWith("-"));
    trimNext = inside.endsWith("-");
    if (start.type !== "comment") segments.push({ type: start.type, source: trimDashes(inside) });
    position = end + 2;
  }
  addText(template.slice(position), false);
  return segments;
}

function nextMarker(
  template: string,
  from: number,
): { index: number; type: "output" | "block" | "comment" } | undefined {
  for (let index = template.indexOf("${", from); index >= 0; index = template.indexOf("${", index + 1)) {
    // "${{", "${%" or "${#"
    const marker = template[index + 2];
    if (marker === "{" || marker === "%" || marker === "#") return { index, type: typeOfMarker[marker] };
  }
  return undefined;
}

function trimDashes(inside: string): string {
  return inside.replace(/^-/, "").replace(/-$/, "").trim();
}
