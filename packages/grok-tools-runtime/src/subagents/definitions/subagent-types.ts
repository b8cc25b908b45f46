import { type Clock, type Logger, linkSignals } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import type { Roots } from "../../files/path-jail.ts";
import { shorten } from "../../shorten.ts";
import { ToolError } from "../../tool-error.ts";
import { builtInDefinitions } from "./built-in-definitions.ts";
import { loadDefinitions } from "./load-definitions.ts";
import type { SubagentDefinition } from "./subagent-definition.ts";

/** What finding the types of a session needs. */
export interface SubagentTypesOptions {
  /** The setting `tools.agentDefinitions`. */
  readonly readsDefinitions: boolean;
  readonly directory: string;
  readonly homeDirectory: string | undefined;
  /** Folders that files of the project must stay in. */
  readonly workspaceRoots: Roots;
  /** Time to read the definitions. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The kinds of subagents a session can start. */
export class SubagentTypes {
  readonly #options: SubagentTypesOptions;
  #definitions = new Map(builtInDefinitions.map((definition) => [definition.name, definition]));
  #isLoaded: boolean;

  constructor(options: SubagentTypesOptions) {
    this.#options = options;
    this.#isLoaded = !options.readsDefinitions;
  }

  /** By name. */
  get definitions(): readonly SubagentDefinition[] {
    return [...this.#definitions.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Reads the definitions of project and user when that is wanted. False: it took too long; the next use tries again. */
  async load(signal?: AbortSignal): Promise<boolean> {
    if (this.#isLoaded) return true;
    const { timeoutMs, clock, logger } = this.#options;
    using link = linkSignals([signal], { timeoutMs, clock });
    try {
      const definitions = new Map(builtInDefinitions.map((definition) => [definition.name, definition]));
      const taken = new Set<string>();
      for (const { definition, isOfProject } of await loadDefinitions({
        ...this.#options,
        signal: link.signal,
      })) {
        const { name } = definition;
        // The first of a name counts; what comes with the server is replaced by the project only.
        if (taken.has(name) || (!isOfProject && definitions.has(name))) continue;
        taken.add(name);
        definitions.set(name, definition);
      }
      this.#definitions = definitions;
      this.#isLoaded = true;
      return true;
    } catch (cause) {
      if (!link.signal.aborted) throw cause;
      logger.warn({ timeoutMs }, "the definitions of subagents could not be read in time");
      return false;
    }
  }

  /**
   * The definition of a type.
   *
   * @param allowed names the caller may start; undefined: all
   * @throws {@link ToolError} INVALID_INPUT for one that is unknown or not allowed, EXECUTION_FAILED when it cannot be
   * told now.
   */
  async find(name: string, allowed: readonly string[] | undefined): Promise<SubagentDefinition> {
    const isComplete = this.#definitions.has(name) || (await this.load());
    const definition = this.#definitions.get(name);
    if (definition === undefined && !isComplete) {
      throw new ToolError(
        ErrorCode.EXECUTION_FAILED,
        `whether there are subagents of type ${name} cannot be told now`,
        {
          retryable: true,
          details: { code: "validation_unavailable" },
        },
      );
    }
    const names = this.definitions
      .map((known) => known.name)
      .filter((known) => allowed?.includes(known) ?? true);
    if (definition !== undefined && names.includes(name)) return definition;
    const what =
      definition === undefined ? "there are no subagents of type" : "this subagent may not start the type";
    throw new ToolError(ErrorCode.INVALID_INPUT, `${what} ${shorten(name)}; there are: ${names.join(", ")}`, {
      details: { reason: definition === undefined ? "unknown_type" : "type_not_allowed" },
    });
  }
}
