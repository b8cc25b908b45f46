import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import type { JsonValue } from "../json.ts";
import type { AdmittedCall, ResourceDefinition, SessionScope } from "../session-resource.ts";
import { ToolError } from "../tool-error.ts";
import type { ToolKind } from "../tool-kind.ts";
import { writtenPaths } from "./written-paths.ts";

const changingKinds: readonly ToolKind[] = ["edit", "write", "delete", "move", "execute", "monitor"];

/** How the plan mode was entered. */
export interface PlanModeEntry {
  /** Refuse what changes something. */
  readonly enforce: boolean;
  /** Absolute; undefined when there is none. */
  readonly planFile: string | undefined;
}

const saved = z.object({
  plan_mode: z.boolean(),
  enforce: z.boolean().default(false),
  plan_file: z.string().nullable().default(null),
});

/** Whether a session plans, and what it must not do meanwhile. */
export class PlanMode {
  readonly #scope: SessionScope;
  #entry: PlanModeEntry | undefined;

  constructor(scope: SessionScope) {
    this.#scope = scope;
  }

  get isActive(): boolean {
    return this.#entry !== undefined;
  }

  enter(entry: PlanModeEntry): void {
    this.#entry = entry;
  }

  leave(): void {
    this.#entry = undefined;
  }

  /** The error for a call that would change something else than the plan. */
  refusal(call: AdmittedCall): ToolError | undefined {
    if (this.#entry?.enforce !== true || !changingKinds.includes(call.kind)) return undefined;
    const { planFile } = this.#entry;
    if (call.kind !== "execute" && call.kind !== "monitor" && planFile !== undefined) {
      const paths = writtenPaths(call, this.#scope.homeDirectory);
      if (paths.length > 0 && paths.every((path) => path === planFile)) return undefined;
    }
    const exit = this.#scope.toolName("exit_plan");
    const allowed = planFile === undefined ? "" : ` Only the plan ${planFile} may be edited.`;
    return new ToolError(
      ErrorCode.PERMISSION_DENIED,
      `the session is in plan mode: nothing is changed and no command is run before the plan is done.${allowed}`,
      {
        details: { reason: "plan_mode" },
        ...(exit !== undefined && { suggestion: `Finish the plan, then call ${exit}.` }),
      },
    );
  }

  load(value: JsonValue): boolean {
    const parsed = saved.safeParse(value);
    if (!parsed.success) return false;
    const { plan_mode, enforce, plan_file } = parsed.data;
    this.#entry = plan_mode ? { enforce, planFile: plan_file ?? undefined } : undefined;
    return true;
  }

  /** Undefined outside the plan mode. */
  save(): JsonValue | undefined {
    if (this.#entry === undefined) return undefined;
    const { enforce, planFile } = this.#entry;
    return { plan_mode: true, enforce, plan_file: planFile ?? null };
  }
}

/** The plan mode of a session. */
export const planMode: ResourceDefinition<PlanMode> = {
  name: "plan mode",
  create: (scope) => new PlanMode(scope),
  refuse: (resource, call) => resource.refusal(call),
  state: {
    key: "trivium.PlanMode",
    load: (resource, value) => resource.load(value),
    save: (resource) => resource.save(),
  },
};
