import type { Linter } from "./linter.ts";
import { nativeLinters } from "./native-linters.ts";
import { scriptLinters } from "./script-linters.ts";

/** All linters; of a language in the order in which they are tried. */
export const linters: readonly Linter[] = [...scriptLinters, ...nativeLinters];
