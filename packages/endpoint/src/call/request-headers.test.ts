import { describe, expect, it } from "vitest";
import { RequestHeaders } from "./request-headers.ts";

const received = {
  ":path": "/a.B/C",
  "content-type": "application/grpc",
  "grpc-accept-encoding": "gzip",
  "x-id": "theirs",
};

function change(headers: RequestHeaders): void {
  headers.set("x-id", "ours");
  headers.delete("grpc-accept-encoding");
}

describe("the headers of a request", () => {
  it.each(["before", "after"])(
    "have what was set and not what was deleted %s they were looked at",
    (when) => {
      const headers = new RequestHeaders(received);
      if (when === "after") expect(headers.web.get("x-id")).toBe("theirs");
      change(headers);
      expect(headers.get("x-id")).toBe("ours");
      expect(headers.get("grpc-accept-encoding")).toBeUndefined();
      expect(headers.get("content-type")).toBe("application/grpc");
      expect(Object.fromEntries(headers.web)).toEqual({ "content-type": "application/grpc", "x-id": "ours" });
      expect(headers.web).toBe(headers.web);
    },
  );

  it("of several values are joined", () => {
    const headers = new RequestHeaders({ "set-cookie": ["a=1", "b=2"] });
    expect(headers.get("set-cookie")).toBe("a=1, b=2");
  });

  it("keep values that have to be trimmed", () => {
    expect(new RequestHeaders({ "x-name": " v " }).get("x-name")).toBe("v");
  });

  it.each(["line\nbreak", "zero\0", "beyond latin ✓"])("are refused with the value %j", (value) => {
    expect(() => new RequestHeaders({ "x-name": value })).toThrow(TypeError);
  });
});
