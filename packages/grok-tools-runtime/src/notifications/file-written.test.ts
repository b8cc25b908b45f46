import { describe, expect, it } from "vitest";
import { z } from "zod";
import { testRuntime } from "../testing/test-runtime.ts";
import { defineTool } from "../tool.ts";
import type { CallbackLink } from "./callback-dialer.ts";
import { toFileWritten } from "./file-written.ts";

const file = { path: "/w/a", callId: "c1" };

describe("toFileWritten", () => {
  it.each([
    [
      "a new file",
      { access: "write", content: { before: null, after: "x" } },
      { content: "x", previous_content: null, is_new_file: true },
    ],
    [
      "a changed file",
      { access: "write", content: { before: "o", after: "x" } },
      { content: "x", previous_content: "o", is_new_file: false },
    ],
    [
      "a deleted file",
      { access: "delete", content: { before: "o", after: "" } },
      { content: "", previous_content: "o", is_new_file: false },
    ],
  ] as const)("tells of %s", (_what, touched, expected) => {
    expect(toFileWritten({ ...file, ...touched }, "full")).toEqual({
      type: "FileWritten",
      tool_call_id: "c1",
      absolute_path: "/w/a",
      ...expected,
    });
  });

  it("tells nothing of reads and of writes without text", () => {
    expect(toFileWritten({ ...file, access: "read" }, "full")).toBeUndefined();
    expect(toFileWritten({ ...file, access: "write" }, "full")).toBeUndefined();
  });

  it("cuts each side at 256 KiB, between characters, and says so", () => {
    const after = `${"x".repeat(256 * 1024 - 1)}é`;
    const told = toFileWritten({ ...file, access: "write", content: { before: "o", after } }, "full");
    expect(told).toMatchObject({
      content: after.slice(0, -1),
      previous_content: "o",
      content_truncated: true,
    });
  });

  it("leaves content out where that is wanted", () => {
    const told = toFileWritten({ ...file, access: "write", content: { before: "o", after: "x" } }, "none");
    expect(told).toMatchObject({
      content: "",
      previous_content: "",
      is_new_file: false,
      content_truncated: true,
    });
  });
});

it("a tool that says it has written makes the notification", async () => {
  const write = defineTool({
    id: "Sample:write",
    kind: "write",
    capabilities: { readOnly: false },
    description: "Writes.",
    input: z.object({}),
    output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
    run: (_input, { touched }) => {
      touched({ access: "write", path: "/w/a", content: { before: null, after: "x" } });
      return Promise.resolve({ output: { type: "Text" }, promptText: "" });
    },
  });
  const sent: string[] = [];
  const link: CallbackLink = {
    connect: () => Promise.resolve(),
    ready: () => Promise.resolve(),
    notify: ({ notificationJson }) => Promise.resolve(void sent.push(notificationJson)),
    run: () => Promise.reject(new Error("no subagents here")),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await using test = await testRuntime([write], { callbacks: { dialer: { open: () => link } } });
  const session = await test.runtime.openSession({
    id: "s",
    tools: ["Sample:write"],
    clientCallbackAddr: "h:1",
  });
  await session.execute("write", {}, { callId: "c1" });
  await session.close();
  expect(sent.map((json) => JSON.parse(json))).toMatchObject([{ type: "FileWritten", tool_call_id: "c1" }]);
});
