import { encodePageToken, type ListIdentity, type PageKey } from "./page-token.ts";

/** How rows become a page. */
export interface PageOf<Row> {
  readonly size: number;
  readonly identity: ListIdentity;
  readonly keyOf: (row: Row) => PageKey;
  /** A page ends before its rows are larger together; it has one row at least. Default: no limit. */
  readonly maxBytes?: number;
  readonly bytesOf?: (row: Row) => number;
}

/** One page of rows that begin where it begins; "" when no row follows. */
export function takePage<Row>(
  rows: Iterable<Row>,
  { size, identity, keyOf, maxBytes = Infinity, bytesOf = () => 0 }: PageOf<Row>,
): { readonly rows: Row[]; readonly nextPageToken: string } {
  const taken: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += bytesOf(row);
    const last = taken.at(-1);
    if (last !== undefined && (taken.length === size || bytes > maxBytes)) {
      return { rows: taken, nextPageToken: encodePageToken(identity, keyOf(last)) };
    }
    taken.push(row);
  }
  return { rows: taken, nextPageToken: "" };
}
