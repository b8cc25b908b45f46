/** The contract's default client name: the part after the first colon, up to the second one. */
export function defaultClientName(id: string): string {
  return id.split(":", 2)[1] ?? id;
}

/** The part before the first colon; empty without one. */
export function namespaceOf(id: string): string {
  return id.includes(":") ? (id.split(":", 1)[0] ?? "") : "";
}

/** A name callers may give a tool: one or two parts of letters, digits, `_` and `-`, divided by a colon. */
export function isToolName(name: string): boolean {
  return /^[A-Za-z0-9_-]+(:[A-Za-z0-9_-]+)?$/.test(name);
}
