import { createHash, timingSafeEqual } from "node:crypto";

/** The user name that goes with the token in the Basic form. */
const BASIC_USER = "crabcode";

/**
 * Checks an `authorization` header against the server's token: `Bearer TOKEN`, or `Basic` of `crabcode:TOKEN`.
 *
 * Digests are compared, so that the time says nothing about the token, its length included.
 */
export class BearerToken {
  readonly #digest: Buffer;

  constructor(token: string) {
    this.#digest = digest(token);
  }

  accepts(authorization: string | undefined): boolean {
    const presented = presentedToken(authorization ?? "");
    // The comparison is made either way.
    return timingSafeEqual(digest(presented ?? ""), this.#digest) && presented !== undefined;
  }
}

function presentedToken(authorization: string): string | undefined {
  const [, scheme = "", credentials = ""] = /^([A-Za-z]+) +(.+)$/.exec(authorization.trim()) ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer":
      return credentials;
    case "basic": {
      const text = Buffer.from(credentials, "base64").toString("utf8");
      return text.startsWith(`${BASIC_USER}:`) ? text.slice(BASIC_USER.length + 1) : undefined;
    }
    default:
      return undefined;
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
