import type { JsonNode } from "./json-node.ts";
import { ProtocolError } from "./protocol-error.ts";

/**
 * The fields of one object of a message, each to be taken once. {@link MessageFields.end} refuses what nobody took.
 *
 * Every method throws {@link ProtocolError} for what the protocol does not allow.
 */
export class MessageFields {
  readonly #path: string;
  readonly #fields: Map<string, JsonNode>;

  constructor(node: JsonNode) {
    this.#path = node.path;
    this.#fields = node.fields();
  }

  /** A field that must be there, also as null. */
  required(name: string): JsonNode {
    const node = this.#fields.get(name);
    if (node === undefined) throw new ProtocolError(`${this.#path}.${name} is missing`);
    this.#fields.delete(name);
    return node;
  }

  /** A field that may be absent or null. */
  optional(name: string): JsonNode | undefined {
    const node = this.#fields.get(name);
    this.#fields.delete(name);
    return node?.isNull === true ? undefined : node;
  }

  string(name: string): string {
    return this.required(name).string();
  }

  /** No field is left. */
  end(): void {
    const [name] = this.#fields.keys();
    if (name !== undefined) throw new ProtocolError(`${this.#path} has the unknown key ${name}`);
  }
}
