import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ExecuteRequestSchema } from "@trivium/proto/code-mode";
import { type ToolDefinition, toWireDefinition } from "./tool-definition.ts";

type ToolFields = Pick<MessageInitShape<typeof ExecuteRequestSchema>, "enabledTools" | "catalogRevision">;

/**
 * Sends a list of tools once and names it by its number afterwards, if the host understands that.
 *
 * Contract: code_mode.proto, ExecuteRequest.catalog_revision.
 */
export class Catalogue {
  readonly #isSupported: boolean;
  #revision = 0n;
  #key: string | undefined;

  constructor(isSupported: boolean) {
    this.#isSupported = isSupported;
  }

  /** The fields of an Execute. With `mayRefer` the list may be left out, which the host may refuse. */
  fields(tools: readonly ToolDefinition[], mayRefer: boolean): ToolFields {
    if (tools.length === 0) return {};
    const enabledTools = tools.map(toWireDefinition);
    if (!this.#isSupported) return { enabledTools };
    const key = JSON.stringify(tools);
    if (mayRefer && key === this.#key) return { catalogRevision: this.#revision };
    this.#key = key;
    return { enabledTools, catalogRevision: ++this.#revision };
  }

  /** The host did not take the last list: the next Execute sends it again. */
  forget(): void {
    this.#key = undefined;
  }
}
