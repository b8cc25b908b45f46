import { type Logger, TriviumError } from "@trivium/core";
import type { JsonValue } from "../json.ts";
import type {
  AdmittedCall,
  FinishedCall,
  ResourceDefinition,
  SessionScope,
  TouchedFile,
} from "../session-resource.ts";
import type { ToolError } from "../tool-error.ts";

type Held = { readonly definition: ResourceDefinition; readonly resource: unknown };

/** The resources of one session. Disposing ends them, the last made first; their state can still be read then. */
export class SessionResources implements AsyncDisposable {
  readonly #scope: SessionScope;
  readonly #logger: Logger;
  readonly #held = new Map<object, Held>();
  /** State of resources that were not made yet, and of keys that no tool of this session knows. */
  readonly #saved = new Map<string, JsonValue>();
  #isDisposed = false;

  constructor(scope: SessionScope) {
    this.#scope = scope;
    this.#logger = scope.logger;
  }

  /** The resource of a definition, made now if need be, with the saved state it has. */
  get<Resource>(definition: ResourceDefinition<Resource>): Resource {
    const held = this.#held.get(definition);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- stored below, under its own definition
    if (held !== undefined) return held.resource as Resource;
    if (this.#isDisposed) throw new TriviumError("unavailable", "the session is closed");
    const resource = definition.create(this.#scope);
    this.#held.set(definition, { definition, resource });
    const { state } = definition;
    const saved = state === undefined ? undefined : this.#saved.get(state.key);
    if (saved !== undefined && state?.load(resource, saved) === false) {
      this.#logger.warn({ resource: definition.name }, "saved state cannot be decoded and is ignored");
    }
    return resource;
  }

  /** Takes over saved values. Returns the keys that could not be decoded; their resources stay as they were. */
  load(state: Readonly<Record<string, JsonValue>>): string[] {
    return Object.entries(state)
      .filter(([key, value]) => !this.#loadOne(key, value))
      .map(([key]) => key);
  }

  /** Current values by state key. */
  save(): Record<string, JsonValue> {
    const state = Object.fromEntries(this.#saved);
    for (const { definition, resource } of this.#held.values()) {
      if (definition.state === undefined) continue;
      const value = definition.state.save(resource);
      if (value === undefined) Reflect.deleteProperty(state, definition.state.key);
      else state[definition.state.key] = value;
    }
    return state;
  }

  /** Whether background work keeps the session open. */
  isBusy(): boolean {
    return [...this.#held.values()].some(
      ({ definition, resource }) => definition.isBusy?.(resource) === true,
    );
  }

  /** Texts of all resources for the model after a call. */
  async reminders(finished: Omit<FinishedCall, "areCompletionsMuted">): Promise<string[]> {
    const areCompletionsMuted = [...this.#held.values()].some(
      ({ definition, resource }) => definition.mutesCompletions?.(resource) === true,
    );
    const call: FinishedCall = { ...finished, areCompletionsMuted };
    const texts = await Promise.all(
      [...this.#held.values()].map(async ({ definition, resource }) => {
        try {
          return (await definition.reminders?.(resource, call)) ?? [];
        } catch (cause) {
          // The call has succeeded; a reminder must not change that.
          this.#logger.error({ resource: definition.name, cause }, "reminders could not be made");
          return [];
        }
      }),
    );
    return texts.flat();
  }

  /** The first refusal of a call. */
  refusal(call: AdmittedCall): ToolError | undefined {
    for (const { definition, resource } of this.#held.values()) {
      const refusal = definition.refuse?.(resource, call);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** Passes on what a tool did to a file. */
  fileTouched(file: TouchedFile): void {
    for (const { definition, resource } of this.#held.values()) {
      try {
        definition.fileTouched?.(resource, file);
      } catch (cause) {
        // The file was touched whatever an observer makes of it.
        this.#logger.error({ resource: definition.name, cause }, "a session resource failed on a file");
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    const held = [...this.#held.values()].reverse();
    for (const { definition, resource } of held) {
      try {
        await definition.dispose?.(resource);
      } catch (cause) {
        // The others must still end.
        this.#logger.error({ resource: definition.name, cause }, "a session resource did not end cleanly");
      }
    }
  }

  #loadOne(key: string, value: JsonValue): boolean {
    const held = [...this.#held.values()].find(({ definition }) => definition.state?.key === key);
    if (held !== undefined && held.definition.state?.load(held.resource, value) === false) return false;
    this.#saved.set(key, value);
    return true;
  }
}
