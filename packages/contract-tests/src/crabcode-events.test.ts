import { create } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import { CrabcodeClient } from "@trivium/crabcode-client";
import { CoreEventProtoSchema, CrabCodeService } from "@trivium/proto/crabcode";
import { describe, expect, it } from "vitest";
import { declaredKeys } from "./crabcode/declared-keys.ts";
import { type EventExample, readVectors } from "./crabcode/vector.ts";

const { events } = readVectors();
const keysByType: Readonly<Record<string, Readonly<Record<string, "always" | "sometimes">>>> = declaredKeys;

describe("example events", () => {
  it.for(named(events))(
    "%s is of the union, or of a tier that is not sent",
    ([, { type, tier, payload }]) => {
      const keys = keysByType[type];
      // What no part of the product sends has no type of its own.
      if (keys === undefined) expect(tier).toBe(3);
      else {
        const always = Object.keys(keys).filter((key) => keys[key] === "always");
        expect(Object.keys(payload).filter((key) => keys[key] === undefined)).toEqual([]);
        expect(always.filter((key) => !(key in payload))).toEqual([]);
      }
    },
  );

  it.for(named(events))("%s comes out of the client as it went in", async ([, example]) => {
    const [delivered] = await deliver(example);
    const seen = delivered?.type === "unknown" && "raw" in delivered ? delivered.raw : delivered;
    // The client keeps the heart of the connection to itself.
    const expected = example.type === "server.heartbeat" ? undefined : sorted(example.payload);
    expect(sorted(seen)).toBe(expected);
    expect(delivered?.type === "unknown").toBe(keysByType[example.type] === undefined);
  });

  it("cover every type of the union", () => {
    const covered = new Set(events.map(({ type }) => type));
    expect(Object.keys(declaredKeys).filter((type) => !covered.has(type))).toEqual([]);
  });
});

/** What a client sees of a stream with this one event. */
async function deliver({ type, payload }: EventExample) {
  const transport = createRouterTransport(({ service }) => {
    service(CrabCodeService, {
      async *subscribeEvents() {
        yield create(CoreEventProtoSchema, { type, payloadJson: JSON.stringify(payload) });
      },
    });
  });
  const delivered = [];
  for await (const event of new CrabcodeClient(transport).subscribe()) delivered.push(event);
  return delivered;
}

function named(examples: readonly EventExample[]): (readonly [string, EventExample])[] {
  return examples.map((example, index) => [`${index} ${example.type}`, example]);
}

/** JSON text with sorted keys, so that equal values are equal texts. */
function sorted(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}
