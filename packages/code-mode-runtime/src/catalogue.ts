import { TriviumError } from "@trivium/core";
import type { ToolDefinition } from "./session-types.ts";

/**
 * The one list of tools that a session remembers, so that a client need not send it with every Execute.
 *
 * Contract: code_mode.proto, ExecuteRequest.catalog_revision.
 */
export class Catalogue {
  #revision: bigint | undefined;
  #tools: readonly ToolDefinition[] = [];
  #key = "";

  /**
   * The tools of one Execute.
   *
   * @throws {@link TriviumError} `failedPrecondition` for revision 0, for one that is not stored and comes without
   * tools, and for the stored one with other tools.
   */
  resolve(revision: bigint | undefined, tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
    if (revision === undefined) return tools;
    if (revision === 0n) throw refusal("catalog revision 0 is invalid: revisions count from 1");
    if (revision === this.#revision) {
      if (tools.length > 0 && toKey(tools) !== this.#key) {
        throw refusal(`catalog revision ${revision} conflicts with the tools sent before under this number`);
      }
      return this.#tools;
    }
    if (tools.length === 0) {
      throw refusal(`catalog revision ${revision} is unknown: send its tools under a new execution_id`);
    }
    if (this.#revision === undefined || revision > this.#revision) {
      this.#revision = revision;
      this.#tools = tools;
      this.#key = toKey(tools);
    }
    return tools;
  }
}

function refusal(message: string): TriviumError {
  return new TriviumError("failedPrecondition", message);
}

function toKey(tools: readonly ToolDefinition[]): string {
  return JSON.stringify(
    tools.map(({ name, toolName, namespace, description, kind, inputSchemaJson, outputSchemaJson }) => [
      [name, toolName, namespace ?? null, description, kind],
      [inputSchemaJson ?? null, outputSchemaJson ?? null],
    ]),
  );
}
