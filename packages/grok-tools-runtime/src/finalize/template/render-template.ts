import { type Expression, isTruthy, parseExpression, type TemplateScope, toText } from "./expression.ts";
import { type Segment, TemplateError, toSegments } from "./segments.ts";

/**
 * Renders a description template: a small part of Jinja2 with the markers `${{ … }}`, `${% … %}`, `${# … #}`.
 * Supports dotted variables, `if`/`elif`/`else`, `for`, `not`/`and`/`or`, comparisons and the filters default,
 * lower, upper, join and length. Text without output or block markers is returned as it is.
 *
 * @throws {@link TemplateError} for a syntax error and for an attribute of an undefined value.
 */
export function renderTemplate(template: string, scope: TemplateScope): string {
  if (!hasMarkers(template)) return template;
  const parser = new TemplateParser(toSegments(template));
  return renderNodes(parser.parse(), scope);
}

/** Takes every marker out and keeps the text around them. Never fails. */
export function stripTemplate(template: string): string {
  if (!hasMarkers(template)) return template;
  return template.replace(/\$\{\{.*?\}\}|\$\{%.*?%\}/gs, "");
}

function hasMarkers(template: string): boolean {
  return template.includes("${{") || template.includes("${%");
}

type Node =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "output"; readonly value: Expression }
  | { readonly type: "if"; readonly branches: readonly Branch[] }
  | {
      readonly type: "for";
      readonly name: string;
      readonly list: Expression;
      readonly body: readonly Node[];
    };

/** A branch without a condition is the `else`. */
type Branch = { readonly condition: Expression | undefined; readonly body: readonly Node[] };

function renderNodes(nodes: readonly Node[], scope: TemplateScope): string {
  return nodes.map((node) => renderNode(node, scope)).join("");
}

function renderNode(node: Node, scope: TemplateScope): string {
  switch (node.type) {
    case "text":
      return node.text;
    case "output":
      return toText(node.value(scope));
    case "if": {
      const branch = node.branches.find(
        ({ condition }) => condition === undefined || isTruthy(condition(scope)),
      );
      return branch === undefined ? "" : renderNodes(branch.body, scope);
    }
    case "for": {
      const list = node.list(scope) ?? [];
      if (!Array.isArray(list)) throw new TemplateError(`\`for ${node.name}\` needs a list`);
      return list.map((item) => renderNodes(node.body, { ...scope, [node.name]: item })).join("");
    }
  }
}

class TemplateParser {
  readonly #segments: readonly Segment[];
  #position = 0;
  #depth = 0;

  constructor(segments: readonly Segment[]) {
    this.#segments = segments;
  }

  parse(): readonly Node[] {
    const { nodes, end } = this.#body();
    if (end !== undefined) throw new TemplateError(`\`${end}\` without its beginning`);
    return nodes;
  }

  /** Nodes up to a block that ends or divides a body; that block's source is `end`, undefined at the end of the text. */
  #body(): { nodes: readonly Node[]; end: string | undefined } {
    if (++this.#depth > 50) throw new TemplateError("the blocks are nested too deeply");
    const nodes: Node[] = [];
    for (;;) {
      const segment = this.#segments[this.#position++];
      if (segment === undefined) return this.#leave(nodes, undefined);
      if (segment.type === "text") nodes.push({ type: "text", text: segment.source });
      else if (segment.type === "output")
        nodes.push({ type: "output", value: parseExpression(segment.source) });
      else if (/^if\b/.test(segment.source)) nodes.push(this.#if(segment.source));
      else if (/^for\b/.test(segment.source)) nodes.push(this.#for(segment.source));
      else return this.#leave(nodes, segment.source);
    }
  }

  #leave(
    nodes: readonly Node[],
    end: string | undefined,
  ): { nodes: readonly Node[]; end: string | undefined } {
    this.#depth--;
    return { nodes, end };
  }

  #if(source: string): Node {
    const branches: Branch[] = [];
    let condition: Expression | undefined = parseExpression(source.replace(/^if/, ""));
    for (;;) {
      const { nodes, end } = this.#body();
      branches.push({ condition, body: nodes });
      if (end === "endif") return { type: "if", branches };
      if (condition === undefined || end === undefined) throw new TemplateError("`if` without `endif`");
      if (end === "else") condition = undefined;
      else if (/^elif\b/.test(end)) condition = parseExpression(end.replace(/^elif/, ""));
      else throw new TemplateError(`unexpected \`${end}\` inside \`if\``);
    }
  }

  #for(source: string): Node {
    const match = /^for\s+([A-Za-z_]\w*)\s+in\s+(.+)$/s.exec(source);
    const [, name, list] = match ?? [];
    if (name === undefined || list === undefined) throw new TemplateError(`cannot read \`${source}\``);
    const { nodes, end } = this.#body();
    if (end !== "endfor") throw new TemplateError("`for` without `endfor`");
    return { type: "for", name, list: parseExpression(list), body: nodes };
  }
}
