import { describe, expect, it } from "vitest";
import { parseListenAddress } from "./listen-address.ts";

describe("parseListenAddress", () => {
  it.each([
    ["127.0.0.1:7411", { host: "127.0.0.1", port: 7411, isLoopback: true }],
    ["localhost:0", { host: "localhost", port: 0, isLoopback: true }],
    ["[::1]:80", { host: "::1", port: 80, isLoopback: true }],
    ["127.8.9.1:1", { host: "127.8.9.1", port: 1, isLoopback: true }],
    ["0.0.0.0:7411", { host: "0.0.0.0", port: 7411, isLoopback: false }],
    ["[::]:7411", { host: "::", port: 7411, isLoopback: false }],
    ["127.example.com:1", { host: "127.example.com", port: 1, isLoopback: false }],
  ])("reads %s", (text, address) => {
    expect(parseListenAddress(text)).toEqual(address);
  });

  it.each(["7411", ":7411", "host", "host:99999", "::1:80", "[host]:1", ""])(
    "refuses %j and shows the form",
    (text) => {
      expect(() => parseListenAddress(text)).toThrow(/HOST:PORT/);
    },
  );
});
