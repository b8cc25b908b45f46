import { createWebTransport } from "@trivium/rpc/web";
import { describe, inject, it } from "vitest";
import { makeFirstCalls } from "../sdk/first-calls.ts";

describe("the SDKs in a browser", () => {
  it.each(["grpc-web", "connect"] as const)("make the README's first calls over %s", async (protocol) => {
    await makeFirstCalls(createWebTransport({ baseUrl: inject("serverUrl"), protocol }));
  });
});
