import { randomBytes } from "node:crypto";
import { rewriteModuleSyntax } from "./rewrite-module-syntax.ts";

/** A program as it is compiled, and the globals that its first line takes. */
export interface ModuleSource {
  readonly code: string;
  readonly doneName: string;
  readonly importName: string | undefined;
}

/** Name of the module in stack traces. */
export const MODULE_FILE_NAME = "exec_main.mjs";

const importCall = /\bimport\s*(?:\(|\/[*/])/;
const exportWord = /\bexport\b/;

/**
 * Wraps a module, already known to compile, so that it tells how it ended. Compile it with a line offset of -1:
 * lines and columns of the source then stay as sent.
 *
 * The inner block ends before the report, so that `using` declarations of the program are disposed first. A valid
 * module cannot break out of the blocks.
 */
export async function wrapModule(source: string): Promise<ModuleSource> {
  const simple = wrapSimpleModule(source);
  if (simple !== undefined) return simple;
  const body = withoutHashbang(source);
  const names = { importName: unusedName(body), exportName: unusedName(body) };
  const rewritten = await rewriteModuleSyntax(body, names);
  return wrap(rewritten.code, rewritten.hasDynamicImport ? names.importName : undefined);
}

/** The same for a module that needs no rewriting, compiling or not; undefined for the others. */
export function wrapSimpleModule(source: string): ModuleSource | undefined {
  const body = withoutHashbang(source);
  return importCall.test(body) || exportWord.test(body) ? undefined : wrap(body, undefined);
}

function withoutHashbang(source: string): string {
  return source.startsWith("#!") ? `//${source.slice(2)}` : source;
}

function wrap(body: string, importName: string | undefined): ModuleSource {
  const doneName = `$${randomBytes(16).toString("hex")}`;
  const take = [doneName, importName]
    .filter((name) => name !== undefined)
    .map((name) => `const ${name} = globalThis.${name}; delete globalThis.${name};`)
    .join(" ");
  const code = `${take} try { {\n${body}\n} ${doneName}(true) } catch (${doneName}e) { ${doneName}(false, ${doneName}e) }`;
  return { code, doneName, importName };
}

/** Six characters, as long as the token they stand for, that occur nowhere in the source. */
function unusedName(source: string): string {
  for (;;) {
    const name = `$${randomBytes(6).toString("base64url").replaceAll("-", "_").slice(0, 5)}`;
    if (!source.includes(name)) return name;
  }
}
