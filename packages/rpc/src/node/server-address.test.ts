import { describe, expect, it } from "vitest";
import { parseServerAddress } from "./server-address.ts";

describe("the address of a server", () => {
  it.each([
    ["http://127.0.0.1:7411", { origin: "http://127.0.0.1:7411", socketPath: undefined }],
    ["https://[::1]:7411/", { origin: "https://[::1]:7411", socketPath: undefined }],
    ["unix:/run/trivium.sock", { origin: "http://localhost", socketPath: "/run/trivium.sock" }],
    ["unix:///run/a b.sock", { origin: "http://localhost", socketPath: "/run/a b.sock" }],
  ])("can be %s", (address, parsed) => {
    expect(parseServerAddress(address)).toEqual(parsed);
  });

  it.each([
    "localhost:7411",
    "ftp://s3cret.example",
    "http://s3cret@host:1",
    "http://user:s3cret@host:1",
    "http://host:1/s3cret",
    "http://host:1?token=s3cret",
    "http://host:1#s3cret",
    "http://host:1?",
    "unix:s3cret.sock",
    "unix://s3cret/run/a.sock",
    "unix:/run/a.sock?token=s3cret",
    "",
  ])("cannot be %j, which is not repeated", (address) => {
    const refused = (): unknown => parseServerAddress(address);
    expect(refused).toThrow(/the address of the server/);
    expect(refused).not.toThrow(/s3cret/);
  });
});
