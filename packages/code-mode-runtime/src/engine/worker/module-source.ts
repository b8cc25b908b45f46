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
  const doneName = `$${randomBytes(16).toString("hex")}`;
  let body = source.startsWith("#!") ? `//${source.slice(2)}` : source;
  let importName: string | undefined;
  if (importCall.test(body) || exportWord.test(body)) {
    const names = { importName: unusedName(body), exportName: unusedName(body) };
    const rewritten = await rewriteModuleSyntax(body, names);
    body = rewritten.code;
    if (rewritten.hasDynamicImport) importName = names.importName;
  }
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
