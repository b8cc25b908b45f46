import { isDeepStrictEqual } from "node:util";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { FinalizeConfigValidationDetailsSchema, type GrokToolsService } from "@trivium/proto/grok-tools";
import type { Difference } from "./check-answer.ts";
import type { ConfigEntry, Vector } from "./vector.ts";

/** The raw client of the service under test. */
export type ToolsClient = Client<typeof GrokToolsService>;

/** How finalize ended. */
export interface Finalized {
  /** Names for calls, in the order of the entries. */
  readonly names: readonly string[];
  readonly refusal: ConnectError | undefined;
}

/** Sets up the session of a case. */
export async function finalizeCase(request: {
  readonly client: ToolsClient;
  readonly entries: readonly ConfigEntry[];
  readonly headers: Readonly<Record<string, string>>;
}): Promise<Finalized> {
  const tools = request.entries.map((entry) => ({
    id: entry.id,
    paramsNameOverrides: { ...entry.params_name_overrides },
    ...(typeof entry.params_json === "string" && { paramsJson: entry.params_json }),
    ...(typeof entry.name_override === "string" && { nameOverride: entry.name_override }),
    ...(typeof entry.behavior_version === "string" && { behaviorVersion: entry.behavior_version }),
    ...(typeof entry.description_override === "string" && {
      descriptionOverride: entry.description_override,
    }),
  }));
  const { headers } = request;
  try {
    const response = await request.client.finalizeToolConfigRequest(
      { tools, systemRemindersEnabled: false },
      { headers },
    );
    return { names: response.tools.map(({ name }) => name), refusal: undefined };
  } catch (thrown) {
    return { names: [], refusal: ConnectError.from(thrown) };
  }
}

/** In which ways finalize did not end as its case expects. */
export function checkFinalize({ finalize_expect }: Vector, { names, refusal }: Finalized): Difference[] {
  const check = "finalize_expect";
  if (finalize_expect?.violations !== undefined) {
    const seen = refusal?.findDetails(FinalizeConfigValidationDetailsSchema)[0]?.violations ?? [];
    const wanted = finalize_expect.violations;
    const compared = seen.map((violation, index) =>
      Object.fromEntries(
        Object.keys(wanted[index] ?? {}).map((key) => [
          key,
          (violation as unknown as Record<string, unknown>)[toCamelCase(key)],
        ]),
      ),
    );
    const holds = refusal?.code === Code.InvalidArgument && isDeepStrictEqual(compared, wanted);
    return holds ? [] : [{ check, expected: wanted, seen: refusal ?? names }];
  }
  if (refusal !== undefined) return [{ check, expected: "a toolset", seen: refusal }];
  const wanted = finalize_expect?.names ?? names;
  return isDeepStrictEqual(names, wanted) ? [] : [{ check, expected: wanted, seen: names }];
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
