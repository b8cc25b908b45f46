import type { ConfiguredTool } from "../finalize/configured-tool.ts";
import { renderTemplate, stripTemplate } from "../finalize/template/render-template.ts";
import { type HostFacts, templateScope } from "../finalize/template-scope.ts";
import type { SubagentDefinition } from "./definitions/subagent-definition.ts";

/** What a system prompt is made of. */
export interface SystemPromptParts {
  readonly definition: SubagentDefinition;
  /** Those the child has. */
  readonly tools: readonly ConfiguredTool[];
  /** Folder the child works in, absolute. */
  readonly directory: string;
  readonly host: HostFacts;
}

/** The complete system prompt of a child, with the names its tools have in this session. */
export function systemPrompt({ definition, tools, directory, host }: SystemPromptParts): string {
  const entries = tools.map(({ registered, clientName, parameterNames }) => ({
    registered,
    clientName,
    entry: { paramsNameOverrides: parameterNames },
  }));
  const scope = templateScope(entries, { host, remindersEnabled: false });
  const parts = [frame(directory), rendered(definition.body, scope), rendered(skillsText(definition), scope)];
  return parts.filter((part) => part !== "").join("\n\n");
}

function frame(directory: string): string {
  return `You are a subagent. Another agent has given you a task and reads only your last message: put everything it needs there.

- You work in ${directory}. Stay inside it unless the task names another place.
- Write paths in your answer as absolute paths.
- Nobody answers questions while you work. Decide, and say what you assumed.`;
}

function skillsText({ skills }: SubagentDefinition): string {
  if (skills.length === 0) return "";
  return `\${% if tools.by_kind.skill %}Before you start, load these skills with \`\${{ tools.by_kind.skill }}\`: ${skills.join(", ")}.\${% endif %}`;
}

function rendered(template: string, scope: ReturnType<typeof templateScope>): string {
  try {
    return renderTemplate(template, scope);
  } catch {
    // A faulty body of a user's file still says what the child is for.
    return stripTemplate(template);
  }
}
