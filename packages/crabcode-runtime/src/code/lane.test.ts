import { describe, expect, it } from "vitest";
import { Lane } from "./lane.ts";

const never = new AbortController().signal;

describe("a lane", () => {
  it("lets so many in, and the others in their order as places come free", async () => {
    const lane = new Lane(2);
    const inside: string[] = [];
    const enter = async (name: string, signal = never): Promise<Disposable | undefined> => {
      const place = await lane.enter(signal);
      if (place !== undefined) inside.push(name);
      return place;
    };
    const first = await enter("a");
    const second = await enter("b");
    const third = enter("c");
    const fourth = enter("d");
    expect(inside).toEqual(["a", "b"]);
    second?.[Symbol.dispose]();
    second?.[Symbol.dispose]();
    const next = await third;
    expect(inside).toEqual(["a", "b", "c"]);
    first?.[Symbol.dispose]();
    await fourth;
    expect(inside).toEqual(["a", "b", "c", "d"]);
    next?.[Symbol.dispose]();
    await enter("e");
    expect(inside.at(-1)).toBe("e");
  });

  it("forgets who leaves the queue", async () => {
    const lane = new Lane(1);
    const place = await lane.enter(never);
    const leaving = new AbortController();
    const left = lane.enter(leaving.signal);
    const next = lane.enter(never);
    leaving.abort();
    expect(await left).toBeUndefined();
    place?.[Symbol.dispose]();
    expect(await next).toBeDefined();
    expect(await lane.enter(leaving.signal)).toBeUndefined();
  });
});
