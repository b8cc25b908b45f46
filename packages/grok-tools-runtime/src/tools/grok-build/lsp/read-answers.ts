import { z } from "zod";

/** A place in a file, from 0. */
export interface FoundLocation {
  readonly uri: string;
  readonly line: number;
  readonly character: number;
}

/** A symbol with those inside it. */
export interface FoundSymbol {
  readonly name: string;
  readonly kind: number;
  /** Undefined: the file that was asked about. */
  readonly uri: string | undefined;
  /** From 0; undefined when the server only says which file it is in. */
  readonly line: number | undefined;
  readonly children: readonly FoundSymbol[];
}

const place = z.int().nonnegative();
const range = z.object({ start: z.object({ line: place, character: place }) });

const location = z
  .object({ uri: z.string(), range })
  .transform(({ uri, range: { start } }): FoundLocation => ({ uri, ...start }));

const locationLink = z
  .object({ targetUri: z.string(), targetSelectionRange: range })
  .transform(
    ({ targetUri, targetSelectionRange: { start } }): FoundLocation => ({ uri: targetUri, ...start }),
  );

/** An answer with places, one or many, with or without links. */
export const locationsAnswer: z.ZodType<FoundLocation[]> = z
  .union([z.null(), location, z.array(z.union([location, locationLink]))])
  .transform((found): FoundLocation[] => (Array.isArray(found) ? found : found === null ? [] : [found]));

const symbolInformation = z
  .object({
    name: z.string(),
    kind: z.int(),
    location: z.object({ uri: z.string(), range: range.optional() }),
  })
  .transform(
    ({ name, kind, location: { uri, range: where } }): FoundSymbol => ({
      name,
      kind,
      uri,
      line: where?.start.line,
      children: [],
    }),
  );

const documentSymbol: z.ZodType<FoundSymbol> = z.lazy(() =>
  z
    .object({
      name: z.string(),
      kind: z.int(),
      selectionRange: range,
      children: z.array(documentSymbol).nullish(),
    })
    .transform(
      ({ name, kind, selectionRange, children }): FoundSymbol => ({
        name,
        kind,
        uri: undefined,
        line: selectionRange.start.line,
        children: children ?? [],
      }),
    ),
);

/** An answer with symbols of a file or of the project. */
export const symbolsAnswer: z.ZodType<FoundSymbol[]> = z
  .union([z.null(), z.array(z.union([documentSymbol, symbolInformation]))])
  .transform((found): FoundSymbol[] => found ?? []);

const marked = z.union([
  z.string(),
  z
    .object({ language: z.string(), value: z.string() })
    .transform(({ language, value }) => `\`\`\`${language}\n${value}\n\`\`\``),
]);
const markup = z.object({ kind: z.string(), value: z.string() }).transform(({ value }) => value);

/** An answer with what is known of a place; an empty text when there is nothing. */
export const hoverAnswer: z.ZodType<string> = z
  .union([
    z.null(),
    z.object({
      contents: z.union([
        markup,
        marked,
        z.array(marked).transform((parts) => parts.filter((part) => part.trim() !== "").join("\n\n")),
      ]),
    }),
  ])
  .transform((found) => found?.contents.trim() ?? "");
