import { type CrabcodeRuntimeOptions, createModelCatalogue } from "@trivium/crabcode-runtime";
import type { ConfigValues } from "../config/config-keys.ts";
import { crabcodeHome } from "./crabcode-home.ts";
import { toSettingsKeys } from "./model-settings.ts";
import type { Part } from "./part.ts";

/** Where agents have their models and settings from, whoever they work for. */
export function agentSources(
  values: ConfigValues,
  { env }: Pick<Part, "env">,
): Required<Pick<CrabcodeRuntimeOptions, "models" | "settings">> {
  const userFolder = crabcodeHome(env);
  const flagFile = values["crabcode.settingsFile"];
  return {
    models: createModelCatalogue({ variables: env, isTesting: values["crabcode.testing"] }),
    settings: {
      base: toSettingsKeys(values),
      ...(userFolder !== undefined && { userFolder }),
      ...(env["HOME"] !== undefined && { homeFolder: env["HOME"] }),
      ...(flagFile !== undefined && { flagFile }),
    },
  };
}
