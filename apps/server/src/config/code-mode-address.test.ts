import { describe, expect, it } from "vitest";
import { parseCodeModeAddress } from "./code-mode-address.ts";

describe("the address of a code-mode host", () => {
  it.each([
    ["stdio", { carrier: "stdio" }],
    ["stdio://", { carrier: "stdio" }],
    ["grpc+stdio", { carrier: "grpc+stdio" }],
    ["grpc+stdio://", { carrier: "grpc+stdio" }],
    ["grpc://127.0.0.1:0", { carrier: "grpc", host: "127.0.0.1", port: 0, isLoopback: true }],
    ["grpc://[::1]:7000", { carrier: "grpc", host: "::1", port: 7000, isLoopback: true }],
    ["ws://0.0.0.0:80", { carrier: "ws", host: "0.0.0.0", port: 80, isLoopback: false }],
  ])("may be %s", (text, address) => {
    expect(parseCodeModeAddress(text)).toEqual(address);
  });

  it.each([
    "",
    "tcp://127.0.0.1:1",
    "stdio:",
    "stdio://x",
    "grpc",
    "ws://",
    "grpc://localhost:1",
    "grpc://1.2.3.4",
  ])("cannot be '%s'", (text) => {
    expect(() => parseCodeModeAddress(text)).toThrow(`--listen cannot be ${text}: give stdio,`);
  });
});
