import type { Tool } from "../tool.ts";

/** The tools of this package, in the order they are listed before finalize. */
export const builtInTools: readonly Tool[] = [];
