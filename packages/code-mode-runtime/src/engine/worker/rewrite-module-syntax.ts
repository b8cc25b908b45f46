import { type AnyNode, type Node, parse } from "acorn";

/** A source of the same length, line by line. */
export interface RewrittenSource {
  readonly code: string;
  readonly hasDynamicImport: boolean;
}

/**
 * Takes the syntax out of a module that cannot stand in a block: dynamic imports call `importName` instead, and
 * `export` is blanked out. Positions stay as they are, so both names have exactly six characters.
 *
 * What the parser does not know comes back untouched: the engine's own errors apply then.
 */
export function rewriteModuleSyntax(source: string, importName: string, exportName: string): RewrittenSource {
  let program: Node;
  try {
    program = parse(source, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true });
  } catch {
    // Newer syntax than the parser's: V8 has accepted the source, and it decides.
    return { code: source, hasDynamicImport: false };
  }
  const edits: Edit[] = [];
  let hasDynamicImport = false;
  for (const node of nodesOf(program)) {
    if (node.type === "ImportExpression") {
      hasDynamicImport = true;
      edits.push({ start: node.start, end: node.start + 6, text: importName });
    } else if (node.type === "ExportNamedDeclaration") {
      const end = node.declaration == null ? node.end : node.declaration.start;
      edits.push({ start: node.start, end, text: blank(source.slice(node.start, end)) });
    } else if (node.type === "ExportDefaultDeclaration") {
      edits.push(defaultExport(source, node.start, { node: node.declaration, name: exportName }));
    }
  }
  edits.sort((left, right) => left.start - right.start);
  let code = "";
  let offset = 0;
  for (const edit of edits) {
    code += source.slice(offset, edit.start) + edit.text;
    offset = edit.end;
  }
  return { code: code + source.slice(offset), hasDynamicImport };
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Named functions and classes stay declarations; anything else becomes the value of a constant. */
function defaultExport(
  source: string,
  start: number,
  declaration: { readonly node: AnyNode; readonly name: string },
): Edit {
  const { node, name } = declaration;
  const isNamed =
    (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") && (node.id ?? null) !== null;
  const end = source.indexOf("default", start + 6) + 7;
  const between = blank(source.slice(start + 6, end - 7));
  if (isNamed) return { start, end, text: blank(source.slice(start, end)) };
  return { start, end, text: `const ${between}${name}=` };
}

function blank(text: string): string {
  return text.replaceAll(/[^\r\n\u2028\u2029]/g, " ");
}

/** Every node of the tree. An explicit stack: the depth of a program is not bounded. */
function* nodesOf(root: Node): Generator<AnyNode, void, undefined> {
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (Array.isArray(value)) stack.push(...value);
    else if (isNode(value)) {
      yield value;
      stack.push(...Object.values(value));
    }
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
