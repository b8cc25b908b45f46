import { TriviumError } from "@trivium/core";
import type { ToolboxPort } from "../ports/toolbox-port.ts";
import type { LoopWorkspace } from "../turn/loop-deps.ts";

/** The surroundings of a hosted agent: its tools bring their own. */
export function hostedWorkspace(cwd: string): LoopWorkspace {
  return {
    cwd,
    additionalDirectories: [],
    environment: {},
    toolbox: () => Promise.resolve(noToolbox),
    requestMode: () => false,
  };
}

const refuse = (): Promise<never> =>
  Promise.reject(new TriviumError("internal", "a hosted agent has no toolbox"));

const noToolbox: ToolboxPort = {
  resolvePath: refuse,
  readText: refuse,
  editText: refuse,
  writeFile: refuse,
  search: refuse,
  findFiles: refuse,
  exclusively: refuse,
  runCommand: refuse,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
