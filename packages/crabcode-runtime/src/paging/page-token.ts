import { createHash } from "node:crypto";
import { z } from "zod";
import { CrabcodeError } from "../crabcode-error.ts";

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 500;
const MAX_TOKEN_CHARS = 512;

/** What a page of a list is asked for with. */
export interface PageRequest {
  /** 0 is 50; more than 500 is 500. */
  readonly pageSize?: number;
  /** `nextPageToken` of the page before; "" is the first page. */
  readonly pageToken?: string;
}

/** A place in a list: the sort key of the last row that was given. */
export type PageKey = readonly (string | number)[];

/** Which list a token belongs to. */
export interface ListIdentity {
  /** The method. */
  readonly list: string;
  /** Everything of the request but the page. */
  readonly filter: readonly unknown[];
}

const tokenBody = z.tuple([z.string(), z.array(z.union([z.string(), z.number()]))]);

/**
 * Rows of a page.
 *
 * @throws CrabcodeError FIELD_INVALID
 */
export function pageSizeOf({ pageSize = 0 }: PageRequest): number {
  if (!Number.isInteger(pageSize) || pageSize < 0) {
    throw new CrabcodeError("FIELD_INVALID", "page_size must be 0 or more", { field: "page_size" });
  }
  return pageSize === 0 ? DEFAULT_PAGE_SIZE : Math.min(pageSize, MAX_PAGE_SIZE);
}

/** A token that says where the next page begins. Nothing of it is kept. */
export function encodePageToken(identity: ListIdentity, key: PageKey): string {
  return Buffer.from(JSON.stringify([fingerprint(identity), key])).toString("base64url");
}

/**
 * The key in a token; undefined for the first page.
 *
 * @param key what a key of this list looks like
 * @throws CrabcodeError PAGE_TOKEN_INVALID, also for the token of another request
 */
export function decodePageToken<Key extends PageKey>(
  { pageToken = "" }: PageRequest,
  identity: ListIdentity,
  key: z.ZodType<Key>,
): Key | undefined {
  if (pageToken === "") return undefined;
  const body = tokenBody.safeParse(parse(pageToken)).data;
  const parsed = key.safeParse(body?.[1]).data;
  if (body?.[0] !== fingerprint(identity) || parsed === undefined) {
    throw new CrabcodeError("PAGE_TOKEN_INVALID", "page_token is not one of this request");
  }
  return parsed;
}

function parse(pageToken: string): unknown {
  if (pageToken.length > MAX_TOKEN_CHARS) return undefined;
  const bytes = Buffer.from(pageToken, "base64url");
  // The decoder skips what is no base64url.
  if (bytes.toString("base64url") !== pageToken) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function fingerprint({ list, filter }: ListIdentity): string {
  return createHash("sha256")
    .update(JSON.stringify([list, filter]))
    .digest("base64url")
    .slice(0, 16);
}
