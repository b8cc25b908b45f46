import type { IncomingHttpHeaders } from "node:http";
import { toWebHeaders } from "./headers.ts";

/** Values that every header takes as they are. */
const plainValue = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const plainName = /^:?[a-z0-9-]+$/;

/** The headers of one request, in web form only for those who look at them. */
export class RequestHeaders {
  readonly #received: IncomingHttpHeaders;
  readonly #added = new Map<string, string>();
  readonly #deleted = new Set<string>();
  #web: Headers | undefined;

  /** @throws TypeError when a value cannot be in a header */
  constructor(received: IncomingHttpHeaders) {
    this.#received = received;
    if (!arePlain(received)) this.#web = toWebHeaders(received);
  }

  get web(): Headers {
    if (this.#web === undefined) {
      this.#web = toWebHeaders(this.#received);
      for (const name of this.#deleted) this.#web.delete(name);
      for (const [name, value] of this.#added) this.#web.set(name, value);
    }
    return this.#web;
  }

  /** The value as a request without the deleted headers has it. */
  get(name: string): string | undefined {
    if (this.#web !== undefined) return this.#web.get(name) ?? undefined;
    if (this.#deleted.has(name)) return undefined;
    const value = this.#added.get(name) ?? this.#received[name];
    return typeof value === "string" ? value : value?.join(", ");
  }

  /** To a name that is not deleted. */
  set(name: string, value: string): void {
    if (this.#web === undefined) this.#added.set(name, value);
    else this.#web.set(name, value);
  }

  delete(name: string): void {
    if (this.#web === undefined) this.#deleted.add(name);
    else this.#web.delete(name);
  }
}

function arePlain(headers: IncomingHttpHeaders): boolean {
  for (const name in headers) {
    const value = headers[name];
    if (typeof value !== "string" || !plainValue.test(value) || !plainName.test(name)) return false;
  }
  return true;
}
