import { codeModeRequirements } from "./code-mode.ts";
import { codeModeClientRequirements } from "./code-mode-client.ts";
import { crabcodeRequirements } from "./crabcode.ts";
import { crabcodeStatusRequirements } from "./crabcode-status.ts";
import { crabcodeStreamRequirements } from "./crabcode-streams.ts";
import { grokToolsRequirements } from "./grok-tools.ts";
import type { Requirement } from "./requirement.ts";
import { serverToolsRequirements } from "./server-tools.ts";

/** Every requirement by id. Ids name the RPC, so contracts do not clash. */
export const requirements = {
  ...grokToolsRequirements,
  ...codeModeRequirements,
  ...codeModeClientRequirements,
  ...serverToolsRequirements,
  ...crabcodeRequirements,
  ...crabcodeStreamRequirements,
  ...crabcodeStatusRequirements,
};

export type RequirementId = keyof typeof requirements;

export function requirement(id: RequirementId): Requirement {
  return requirements[id];
}
