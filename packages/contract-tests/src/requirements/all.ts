import { codeModeRequirements } from "./code-mode.ts";
import { crabcodeRequirements } from "./crabcode.ts";
import { grokToolsRequirements } from "./grok-tools.ts";
import type { Requirement } from "./requirement.ts";

/** Every requirement by id. Ids name the RPC, so contracts do not clash. */
export const requirements = { ...grokToolsRequirements, ...codeModeRequirements, ...crabcodeRequirements };

export type RequirementId = keyof typeof requirements;

export function requirement(id: RequirementId): Requirement {
  return requirements[id];
}
