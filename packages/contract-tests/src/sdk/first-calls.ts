import type { Transport } from "@connectrpc/connect";
import { CodeModeSession } from "@trivium/code-mode-client";
import { CrabcodeClient } from "@trivium/crabcode-client";
import { openToolSession } from "@trivium/grok-tools-client";
import { expect } from "vitest";

/** The first calls the root README shows for each SDK, the same in Node and in a browser. */
export async function makeFirstCalls(transport: Transport): Promise<void> {
  const tools = await openToolSession(transport, { tools: ["GrokBuild:read_file", "GrokBuild:grep"] });
  expect(tools.tools.map(({ name }) => name)).toEqual(["read_file", "grep"]);
  const { promptText } = await tools.callOrThrow("read_file", { target_file: "hello.txt" });
  expect(promptText).toContain("hello from the workspace");
  const missing = await tools.call("read_file", { target_file: "missing.txt" });
  expect(missing).toMatchObject({ ok: false, error: { message: expect.stringContaining("missing.txt") } });
  const stream = tools.stream("grep", { pattern: "hello" });
  let streamed = "";
  for await (const piece of stream) streamed += piece;
  expect(streamed).toContain("hello.txt");
  expect((await stream.result).ok).toBe(true);

  await using session = await CodeModeSession.open(transport);
  await session.serveTools({ double: (input) => Number(input) * 2 });
  const outcome = await session.execute("text(await tools.double(21))");
  expect(outcome).toMatchObject({ state: "completed", items: [{ text: "42" }] });

  const client = new CrabcodeClient(transport);
  const turn = client.send("list *.txt", { onPermission: () => "allow" });
  let text = "";
  for await (const event of turn) if (event.type === "stream_text") text += event.text;
  const result = await turn.result();
  expect(result.reason).toBe("end_turn");
  expect(text).toMatch(/^\[offline mode/);
  expect(text).toContain(result.text.slice(0, 10));
  expect((await client.listModels()).models.at(-1)?.name).toBe("offline");
}
