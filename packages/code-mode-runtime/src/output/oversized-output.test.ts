import { expect, it } from "vitest";
import { createSessionHarness, texts } from "../testing/session-harness.ts";

const MEBIBYTE = 1024 * 1024;

it("an unbounded session that keeps oversized output gives its head and tail instead of an error", async () => {
  const { start } = createSessionHarness({ keepOversizedOutput: true });
  const { execution, cell } = start();
  const chunk = "x".repeat(MEBIBYTE);
  for (let count = 0; count < 65; count++) cell.text(chunk);
  cell.complete("Error: late");
  const outcome = await execution.outcome;
  expect(outcome?.result).toEqual({ type: "completed", errorText: "Error: late" });
  expect(texts(outcome).map((text) => text.length)).toEqual([MEBIBYTE / 2, expect.any(Number), MEBIBYTE / 2]);
});

it("and everything as long as it fits", async () => {
  const { start } = createSessionHarness({ keepOversizedOutput: true });
  const { execution, cell } = start();
  for (let count = 0; count < 3; count++) cell.text("y".repeat(MEBIBYTE));
  cell.complete();
  expect(texts(await execution.outcome)).toHaveLength(3);
});

it("an unbounded session stores nothing more once no message could carry it", async () => {
  const { start, session } = createSessionHarness();
  const { execution, cell } = start();
  const chunk = "x".repeat(MEBIBYTE);
  for (let count = 0; count < 70; count++) cell.text(chunk);
  cell.listener.yieldRequested();
  await expect(execution.outcome).rejects.toMatchObject({ kind: "outOfRange" });
  cell.text("after");
  cell.complete();
  const { outcome } = await session.wait({ cellId: "1", waitId: "w1", yieldTimeMs: 0 });
  expect(texts(outcome)).toEqual(["after"]);
});
