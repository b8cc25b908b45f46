import { describe, expect, it } from "vitest";
import { parseNotification } from "./notification.ts";

const bash = { tool_call_id: "c1", command: "echo hi", total_bytes: 3, truncated: false, cwd: "/w" };
const read = (value: object) => parseNotification(JSON.stringify(value));

describe("parseNotification", () => {
  it.each([
    ["base64", "aGkK"],
    ["an array of integers", [104, 105, 10]],
  ])("reads output as %s", (_what, output) => {
    expect(read({ type: "BashExecutionComplete", ...bash, output, exit_code: 0, signal: null })).toEqual({
      type: "BashExecutionComplete",
      toolCallId: "c1",
      command: "echo hi",
      output: new TextEncoder().encode("hi\n"),
      totalBytes: 3,
      truncated: false,
      cwd: "/w",
      exitCode: 0,
      signal: null,
    });
  });

  it("reads times and lengths of time as milliseconds, and leaves absent keys out", () => {
    const elapsed = { secs: 1, nanos: 500_000_000 };
    expect(
      read({ type: "BashExecutionTimeout", ...bash, output: "", elapsed, timeout: { secs: 1, nanos: 0 } }),
    ).toMatchObject({
      elapsedMs: 1_500,
      timeoutMs: 1_000,
    });
    const backgrounded = read({
      type: "BashExecutionBackgrounded",
      ...bash,
      output: "",
      output_file: "/l",
      task_id: "t",
    });
    expect(backgrounded).toMatchObject({ taskId: "t", outputFile: "/l" });
    expect(backgrounded).not.toHaveProperty("monitorDescription");
  });

  it("ignores keys it does not know and reads an unknown reason as unknown", () => {
    const value = {
      type: "ScheduledTaskRemoved",
      task_id: "t",
      generation: "g",
      revision: 2,
      reason: "bored",
      extra: 1,
    };
    expect(read(value)).toEqual({
      type: "ScheduledTaskRemoved",
      taskId: "t",
      generation: "g",
      revision: 2,
      reason: "unknown",
    });
  });

  it.each([
    ["a type it does not know", { type: "Later", x: 1 }],
    ["a missing key", { type: "LspServerReady" }],
    ["a key of another type", { type: "LspServerReady", server_name: 1 }],
    ["bytes that are none", { type: "BashOutputChunk", ...bash, output: "%%" }],
    ["the name of a built-in property", { type: "constructor" }],
  ])("hands on %s as it came", (_what, raw) => {
    expect(read(raw)).toEqual({ type: "unknown", raw });
  });

  it("hands on what is no JSON as a text", () => {
    expect(parseNotification("{")).toEqual({ type: "unknown", raw: "{" });
  });
});
