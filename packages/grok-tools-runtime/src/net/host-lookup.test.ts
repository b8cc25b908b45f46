import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import type { AddressClass } from "./address-class.ts";
import { pinnedLookup, resolveChecked } from "./host-lookup.ts";

const signal = new AbortController().signal;
const onlyPublic = (addressClass: AddressClass): boolean => addressClass === "public";

describe("resolveChecked", () => {
  it("gives the addresses of a name, looked up once", async () => {
    const asked: string[] = [];
    const resolve = (name: string): Promise<string[]> => {
      asked.push(name);
      return Promise.resolve(["93.184.216.34", "2606:2800::1"]);
    };
    const addresses = await resolveChecked("a.example", { resolve, permits: onlyPublic, signal });
    expect(addresses).toEqual(["93.184.216.34", "2606:2800::1"]);
    expect(asked).toEqual(["a.example"]);
  });

  it("refuses a host of which one address is not permitted", async () => {
    const resolve = (): Promise<string[]> => Promise.resolve(["93.184.216.34", "10.0.0.1"]);
    await expect(resolveChecked("a.example", { resolve, permits: onlyPublic, signal })).rejects.toMatchObject(
      {
        kind: "permissionDenied",
        message: expect.stringContaining("10.0.0.1"),
      },
    );
  });

  it.each([
    ["[2606:2800::1]", "2606:2800::1"],
    ["93.184.216.34", "93.184.216.34"],
  ])("does not look up the address %s", async (hostname, address) => {
    const resolve = (): Promise<string[]> => Promise.reject(new Error("asked"));
    expect(await resolveChecked(hostname, { resolve, permits: onlyPublic, signal })).toEqual([address]);
  });

  it.each([
    ["fails", () => Promise.reject(new Error("ENOTFOUND"))],
    ["has no address", () => Promise.resolve([])],
  ])("says unavailable when the name %s", async (_what, resolve) => {
    const checked = resolveChecked("a.example", { resolve, permits: onlyPublic, signal });
    await expect(checked).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("does not wait for a name server after the signal", async () => {
    const controller = new AbortController();
    const resolve = (): Promise<string[]> => new Promise(() => {});
    const checked = resolveChecked("a.example", { resolve, permits: onlyPublic, signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(checked).rejects.toThrow("enough");
  });
});

describe("pinnedLookup", () => {
  it("connects to the given address whatever the name is", async () => {
    const server = createServer((socket) => socket.end("here")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const socket = connect({ host: "elsewhere.example", port, lookup: pinnedLookup(["127.0.0.1"]) });
    const [data] = await once(socket, "data");
    expect(String(data)).toBe("here");
    socket.destroy();
    server.close();
    await once(server, "close");
  });

  it("has no address of another family", () => {
    let code: unknown;
    pinnedLookup(["127.0.0.1"])("x", { family: 6 }, (error) => {
      code = error?.code;
    });
    expect(code).toBe("ENOTFOUND");
  });
});
