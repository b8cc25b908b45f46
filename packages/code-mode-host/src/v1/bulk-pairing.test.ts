import { sequentialIds } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { BulkPairing } from "./bulk-pairing.ts";
import type { Lane } from "./lane.ts";

it("no more than 256 clients are waited for, and a place is free again when one gives up", () => {
  const pairing = new BulkPairing(sequentialIds());
  const reservations = Array.from({ length: 256 }, () => pairing.reserve());
  expect(reservations.every((one) => one !== undefined)).toBe(true);
  expect(pairing.reserve()).toBeUndefined();
  reservations[0]?.[Symbol.dispose]();
  expect(pairing.reserve()).toBeDefined();
  expect(pairing.claim(reservations[0]?.token ?? "")).toBeUndefined();
});

it("a lane that comes while its client gives up is cut", async () => {
  const pairing = new BulkPairing(sequentialIds());
  const reservation = pairing.reserve();
  const attach = pairing.claim(reservation?.token ?? "");
  let isCut = false;
  const lane: Lane = {
    payloads: (async function* () {})(),
    write: () => {},
    close: () => Promise.resolve(),
    destroy: () => {
      isCut = true;
    },
  };
  reservation?.[Symbol.dispose]();
  attach?.(lane);
  await Promise.resolve();
  expect(isCut).toBe(true);
});
