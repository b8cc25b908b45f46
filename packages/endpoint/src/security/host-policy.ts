/**
 * Which names a request may address this endpoint by.
 *
 * A page whose own name was made to resolve to this machine (DNS rebinding) still sends that name here.
 */
export class HostPolicy {
  readonly #names: ReadonlySet<string> | undefined;

  /** @param names host names without ports; undefined admits any */
  constructor(names: readonly string[] | undefined) {
    this.#names = names && new Set(names.map(normalize));
  }

  accepts(authority: string): boolean {
    const name = hostNameOf(authority);
    if (name === undefined) return false;
    if (this.#names === undefined) return true;
    return this.#names.has(name) || (this.#names.has("localhost") && name.endsWith(".localhost"));
  }
}

/** Names that reach loopback from this machine and from nowhere else. */
export const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "::1"];

/** The name of `host[:port]` in lower case without brackets, or undefined when it is no authority. */
export function hostNameOf(authority: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.exec(authority);
  return match?.[1] === undefined ? undefined : normalize(match[1]);
}

function normalize(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
