import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock, TriviumError } from "@trivium/core";
import type { WebSearchPort } from "@trivium/crabcode-runtime";
import type { ProgramRunner } from "@trivium/grok-tools-runtime";
import { searchWeb } from "@trivium/grok-tools-runtime/internal";
import type { ConfigValues } from "../../config/config-keys.ts";
import { keyVariables } from "../model-settings.ts";
import type { Part } from "../part.ts";
import { webKeyVariables } from "../web-settings.ts";

const TIMEOUT_MS = 8_000;
/** A model that searches reads pages and writes before it answers. */
const MODEL_TIMEOUT_MS = 30_000;

/** Searches of conversations, by the provider that the tools search with; undefined when there is none. */
export function createWebSearch(
  values: ConfigValues,
  { env, dataDir }: Pick<Part, "env" | "dataDir">,
  programRunner: ProgramRunner,
): WebSearchPort | undefined {
  const settings = values["tools.webSearch"];
  if (settings === undefined) return undefined;
  const usualTimeoutMs = settings.provider === "responses" ? MODEL_TIMEOUT_MS : TIMEOUT_MS;
  // A command runs in a folder of its own: what lies in a workspace must not change what it does.
  const folder = join(dataDir, "crabcode-search");
  const scope = {
    environment: env,
    secretVariables: [...keyVariables(values), ...webKeyVariables(values)],
    programRunner,
    sessionFolder: folder,
    settings: { environment: values["tools.environment"] },
    clock: systemClock,
  };
  return {
    async search({ timeoutMs = usualTimeoutMs, ...request }) {
      try {
        if (settings.provider === "command") await mkdir(folder, { recursive: true, mode: 0o700 });
        const { hits } = await searchWeb({ ...request, timeoutMs }, settings, scope);
        return { kind: "ok", hits };
      } catch (thrown) {
        if (request.signal.aborted || !TriviumError.isInstance(thrown)) throw thrown;
        return { kind: "failure", code: "unavailable", message: thrown.message };
      }
    },
  };
}
