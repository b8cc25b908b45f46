import type { JsonNode } from "./json-node.ts";
import { ProtocolError } from "./protocol-error.ts";

/**
 * A session id or the name of a capability.
 *
 * @throws {@link ProtocolError} for one that is blank.
 */
export function requireName(node: JsonNode): string {
  const name = node.string();
  if (name.trim() === "") throw new ProtocolError(`${node.path} is blank`);
  return name;
}
