import type { ModelTool } from "../ports/model-port.ts";
import { askUser } from "./ask-user.ts";
import { bash } from "./bash.ts";
import { createChecklist } from "./checklist.ts";
import { edit, read, write } from "./file-tools.ts";
import { glob, grep } from "./search-tools.ts";
import { switchMode } from "./switch-mode.ts";
import type { Tool } from "./tool.ts";

/** The tools of one loop, in the order they are offered. */
export class ToolSet {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #offered: Readonly<Record<"agent" | "plan", readonly ModelTool[]>>;

  constructor(tools: readonly Tool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#offered = {
      agent: tools.map(toModelTool),
      plan: tools.filter((tool) => tool.isReadOnly).map(toModelTool),
    };
  }

  get all(): readonly Tool[] {
    return [...this.#tools.values()];
  }

  find(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** What a model is told in a mode. */
  offered(mode: "agent" | "plan"): readonly ModelTool[] {
    return this.#offered[mode];
  }
}

function toModelTool({ name, description, inputSchema }: Tool): ModelTool {
  return { name, description, inputSchema };
}

/** The built-in tools of a session. */
export function builtInTools(newChecklistId: () => string): Tool[] {
  return [bash, read, edit, write, grep, glob, askUser, switchMode, createChecklist(newChecklistId)];
}
