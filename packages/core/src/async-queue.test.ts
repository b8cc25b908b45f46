import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AsyncQueue } from "./async-queue.ts";

describe("AsyncQueue", () => {
  it("keeps order and loses nothing under any interleaving of push and pull", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.constantFrom("push", "pull"), { maxLength: 60 }),
        async (capacity, steps) => {
          const queue = new AsyncQueue<number>(capacity);
          const taken: Promise<IteratorResult<number, undefined>>[] = [];
          let pushed = 0;
          for (const step of steps) {
            if (step === "push") void queue.push(pushed++);
            // one consumer: a pull waits for the one before it
            else taken.push((taken.at(-1) ?? Promise.resolve()).then(() => queue.next()));
          }
          while (taken.length < pushed)
            taken.push((taken.at(-1) ?? Promise.resolve()).then(() => queue.next()));
          const values: (number | undefined)[] = [];
          for (const result of taken.slice(0, pushed)) values.push((await result).value);
          expect(values).toEqual(Array.from({ length: pushed }, (_, index) => index));
          await queue.return();
        },
      ),
    );
  });

  it("makes a producer wait while it is full", async () => {
    const queue = new AsyncQueue<string>(1);
    await queue.push("a");
    let isAccepted = false;
    const second = queue.push("b").then((accepted) => {
      isAccepted = accepted;
    });
    expect(queue.tryPush("c")).toBe(false);
    await Promise.resolve();
    expect(isAccepted).toBe(false);
    expect(await queue.next()).toEqual({ done: false, value: "a" });
    await second;
    expect(isAccepted).toBe(true);
  });

  it("forgets the item of a producer whose signal aborts while it waits", async () => {
    const queue = new AsyncQueue<string>(1);
    await queue.push("a");
    const controller = new AbortController();
    const waiting = queue.push("b", controller.signal);
    controller.abort(new Error("no longer wanted"));
    await expect(waiting).rejects.toThrow("no longer wanted");
    queue.end();
    expect(await collect(queue)).toEqual(["a"]);
  });

  it("delivers what it accepted before it ends", async () => {
    const queue = new AsyncQueue<number>(4);
    queue.tryPush(1);
    queue.tryPush(2);
    queue.end();
    expect(queue.tryPush(3)).toBe(false);
    expect(await queue.push(3)).toBe(false);
    expect(await collect(queue)).toEqual([1, 2]);
  });

  it("delivers what it accepted before it fails, then throws the failure once", async () => {
    const queue = new AsyncQueue<number>(4);
    queue.tryPush(1);
    queue.fail(new Error("broken"));
    expect(await queue.next()).toEqual({ done: false, value: 1 });
    await expect(queue.next()).rejects.toThrow("broken");
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });

  it("turns waiting producers away when the consumer leaves", async () => {
    const queue = new AsyncQueue<number>(1);
    await queue.push(1);
    const second = queue.push(2);
    const third = queue.push(3);
    // Taking the first item makes room for the second.
    for await (const _ of queue) break;
    expect(await second).toBe(true);
    expect(await third).toBe(false);
    expect(queue.isOpen).toBe(false);
  });

  it("carries undefined as an item", async () => {
    const queue = new AsyncQueue<undefined>(2);
    queue.tryPush(undefined);
    queue.end();
    expect(await collect(queue)).toEqual([undefined]);
  });

  it("ends a waiting consumer when it ends", async () => {
    const queue = new AsyncQueue<number>(1);
    const next = queue.next();
    queue.end();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

async function collect<Item>(queue: AsyncQueue<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of queue) items.push(item);
  return items;
}
