import { setImmediate as nextTurn } from "node:timers/promises";
import { type Token, tokenizer } from "acorn";

/** A source of the same length, line by line. */
export interface RewrittenSource {
  readonly code: string;
  readonly hasDynamicImport: boolean;
}

/** Names to put in; exactly as long as the keyword `import`, so that columns stay. */
export interface ReplacementNames {
  readonly importName: string;
  readonly exportName: string;
}

/** Longest stretch of work between two turns of the event loop. */
const sliceMs = 4;
const tokensPerLook = 1_000;

/**
 * Takes the syntax out of a module that cannot stand in a block: dynamic imports call `importName` instead, and
 * `export` is blanked out, a default value becoming the constant `exportName`.
 *
 * Works on tokens, in slices: a parse of a large source would stop every other cell of the worker. The source is known
 * to be a valid module; what the tokenizer does not know comes back untouched, and the engine's own errors apply.
 */
export async function rewriteModuleSyntax(source: string, names: ReplacementNames): Promise<RewrittenSource> {
  const rewriter = new TokenRewriter(source, names);
  try {
    let startMs = performance.now();
    let count = 0;
    for (const token of tokenizer(source, { ecmaVersion: "latest", sourceType: "module" })) {
      rewriter.take(token);
      count += 1;
      if (count % tokensPerLook !== 0 || performance.now() - startMs < sliceMs) continue;
      await nextTurn();
      startMs = performance.now();
    }
  } catch {
    return { code: source, hasDynamicImport: false };
  }
  return rewriter.finish();
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** An `import` with an opening parenthesis: a call, or a method of that name when a body follows. */
interface OpenImport {
  readonly start: number;
  readonly depth: number;
  isClosed: boolean;
}

const declarationKeywords = new Set(["const", "var", "let", "function", "class", "async"]);

/** Remembers the last few tokens, and what is to be replaced. */
class TokenRewriter {
  readonly #source: string;
  readonly #names: ReplacementNames;
  readonly #edits: Edit[] = [];
  readonly #imports: OpenImport[] = [];
  #hasDynamicImport = false;
  #depth = 0;
  /** The last token is an `import` that a parenthesis would make a call. */
  #isImport = false;
  #previous: Token | undefined;
  /** Tokens of an export statement so far, while its kind is not known. */
  #export: Token[] = [];
  /** Start of an export list, until its closing brace. */
  #list: number | undefined;

  constructor(source: string, names: ReplacementNames) {
    this.#source = source;
    this.#names = names;
  }

  take(token: Token): void {
    this.#takeImport(token);
    const isProperty = this.#previous !== undefined && /^\??\.$/.test(this.#label(this.#previous));
    if (this.#list !== undefined) this.#takeListed(token);
    else if (this.#export.length > 0) this.#takeExported(token);
    else if (this.#label(token) === "export" && !isProperty) this.#export.push(token);
    this.#previous = token;
  }

  finish(): RewrittenSource {
    this.#decideImport(undefined);
    this.#edits.sort((left, right) => left.start - right.start);
    const pieces: string[] = [];
    let offset = 0;
    for (const edit of this.#edits) {
      pieces.push(this.#source.slice(offset, edit.start), edit.text);
      offset = edit.end;
    }
    pieces.push(this.#source.slice(offset));
    return { code: pieces.join(""), hasDynamicImport: this.#hasDynamicImport };
  }

  #takeImport(token: Token): void {
    const label = this.#label(token);
    this.#decideImport(label);
    if (label === "(") {
      this.#depth += 1;
      const { start } = this.#previous ?? {};
      if (this.#isImport && start !== undefined) {
        this.#imports.push({ start, depth: this.#depth, isClosed: false });
      }
    } else if (label === ")") {
      const last = this.#imports.at(-1);
      if (last?.depth === this.#depth) last.isClosed = true;
      this.#depth -= 1;
    }
    const isProperty = this.#previous !== undefined && /^\??\.$/.test(this.#label(this.#previous));
    this.#isImport = label === "import" && !isProperty;
  }

  /** The parenthesis of the innermost import is closed, and this comes next. */
  #decideImport(label: string | undefined): void {
    const last = this.#imports.at(-1);
    if (last?.isClosed !== true) return;
    this.#imports.pop();
    if (label === "{") return;
    this.#hasDynamicImport = true;
    this.#edits.push({ start: last.start, end: last.start + 6, text: this.#names.importName });
  }

  /** `export {`, `export const`, `export default value`, `export default [async] function|class [*] [name]`. */
  #takeExported(token: Token): void {
    const label = this.#label(token);
    const [first, second, third, fourth] = this.#export;
    if (first === undefined) return;
    if (second === undefined) {
      if (label === "default") this.#export.push(token);
      else {
        this.#export = [];
        if (label === "{") this.#list = first.start;
        // Anything else is the name of a property or method.
        else if (declarationKeywords.has(label)) this.#blank(first.start, first.end);
      }
      return;
    }
    if (label === "async" || label === "function" || label === "class" || label === "*") {
      this.#export.push(token);
      return;
    }
    this.#export = [];
    const word =
      third === undefined
        ? ""
        : this.#label(third) === "async"
          ? fourth && this.#label(fourth)
          : this.#label(third);
    if (token.type.label === "name" && (word === "function" || word === "class")) {
      this.#blank(first.start, first.end);
      this.#blank(second.start, second.end);
      return;
    }
    // `const ` is as long as `export`, the name with its sign as long as `default`.
    this.#edits.push({ start: first.start, end: first.end, text: "const " });
    this.#edits.push({ start: second.start, end: second.end, text: `${this.#names.exportName}=` });
  }

  #takeListed(token: Token): void {
    if (this.#label(token) !== "}" || this.#list === undefined) return;
    this.#blank(this.#list, token.end);
    this.#list = undefined;
  }

  #blank(start: number, end: number): void {
    const text = this.#source.slice(start, end).replaceAll(/[^\r\n\u2028\u2029]/g, " ");
    this.#edits.push({ start, end, text });
  }

  /** The word itself for keywords and names, otherwise what the tokenizer calls it. */
  #label(token: Token): string {
    const { keyword, label } = token.type;
    return keyword ?? (label === "name" ? this.#source.slice(token.start, token.end) : label);
  }
}
