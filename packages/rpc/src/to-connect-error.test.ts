import { Code, ConnectError } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import { describe, expect, it } from "vitest";
import { codeOfKind } from "./code-of-kind.ts";
import { fromConnectError } from "./from-connect-error.ts";
import { toConnectError } from "./to-connect-error.ts";

describe("toConnectError", () => {
  it.each(Object.entries(codeOfKind))("gives the kind %s its code and back", (kind, code) => {
    const error = toConnectError(new TriviumError(kind as keyof typeof codeOfKind, "which value"));
    expect(error.code).toBe(code);
    expect(fromConnectError(error)).toMatchObject({ kind, message: "which value" });
  });

  it("shows nothing of a foreign error and keeps it as the cause", () => {
    const cause = new Error("password=hunter2 in /home/someone");
    const error = toConnectError(cause);
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: "internal error", cause });
  });

  it("tells a cancel from a time-out", () => {
    expect(toConnectError(new DOMException("x", "AbortError")).code).toBe(Code.Canceled);
    expect(toConnectError(new DOMException("x", "TimeoutError")).code).toBe(Code.DeadlineExceeded);
  });

  it("lets a status through as it is", () => {
    const error = new ConnectError("as thrown", Code.DataLoss);
    expect(toConnectError(error)).toBe(error);
  });
});

describe("fromConnectError", () => {
  it("keeps the status as the cause", () => {
    const cause = new ConnectError("gone", Code.Unavailable);
    expect(fromConnectError(cause)).toMatchObject({ kind: "unavailable", cause });
  });

  it("reads an unknown status and a foreign error as internal", () => {
    expect(fromConnectError(new ConnectError("x", Code.Unknown)).kind).toBe("internal");
    expect(fromConnectError(new Error("x")).kind).toBe("internal");
  });
});
