import { describe, expect, it } from "vitest";
import { TurnQueue } from "./turn-queue.ts";

/** A queue whose items and jobs end when the test says so, and what happened in it. */
function fixture() {
  const log: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const endOf = (name: string): PromiseWithResolvers<void> => {
    const end = ends.get(name) ?? Promise.withResolvers<void>();
    ends.set(name, end);
    return end;
  };
  const run = async (name: string): Promise<void> => {
    log.push(`${name} begins`);
    await endOf(name).promise;
    log.push(`${name} ends`);
  };
  const queue = new TurnQueue<string>({ maxWaiting: 2, run });
  return { log, queue, run, end: (name: string) => endOf(name).resolve(), endOf };
}

describe("TurnQueue.between", () => {
  it("runs a job at once when nothing runs, and items wait for it", async () => {
    const { log, queue, run, end } = fixture();
    const job = queue.between(async () => {
      await run("job");
      return 5;
    });
    expect(queue.isBusy).toBe(true);
    expect(queue.running).toBeUndefined();
    expect(queue.add("a")).toBe("waiting");
    end("job");
    expect(await job).toBe(5);
    end("a");
    await queue.idle();
    expect(log).toEqual(["job begins", "job ends", "a begins", "a ends"]);
  });

  it("runs jobs after the running item, in order, before items that wait and those in the background", async () => {
    const { log, queue, run, end } = fixture();
    for (const name of ["a", "one", "two", "b", "c"]) end(name);
    queue.add("a");
    queue.addBackground("c");
    queue.add("b");
    const jobs = [queue.between(() => run("one")), queue.between(() => run("two"))];
    await Promise.all([...jobs, queue.idle()]);
    expect(log.filter((line) => line.endsWith("begins"))).toEqual([
      "a begins",
      "one begins",
      "two begins",
      "b begins",
      "c begins",
    ]);
    expect(log).toHaveLength(10);
    expect(queue.isBusy).toBe(false);
  });

  it("hands the failure of a job to its caller and goes on", async () => {
    const { queue, end } = fixture();
    const failing = queue.between(() => Promise.reject(new Error("no")));
    queue.add("a");
    await expect(failing).rejects.toThrow("no");
    end("a");
    await queue.idle();
    await expect(queue.between(() => Promise.resolve("later"))).resolves.toBe("later");
  });

  it("counts a running job as one place, so that a full queue says so", () => {
    const { queue, run } = fixture();
    void queue.between(() => run("job"));
    queue.add("a");
    expect(queue.isFull).toBe(false);
    queue.add("b");
    expect(queue.isFull).toBe(true);
  });

  it("asks only the running job to stop", async () => {
    const { queue } = fixture();
    const stopped = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
    const running = queue.between(stopped);
    const waiting = queue.between(async (signal) => signal.aborted);
    queue.stopJob(new Error("closing"));
    await expect(running).rejects.toThrow("closing");
    expect(await waiting).toBe(false);
    // Nothing runs: nothing to stop.
    queue.stopJob(new Error("closing"));
  });

  it("is idle only when no job is left", async () => {
    const { queue, run, end } = fixture();
    const log: string[] = [];
    const job = queue.between(() => run("job")).then(() => log.push("job"));
    const idle = queue.idle().then(() => log.push("idle"));
    end("job");
    await Promise.all([job, idle]);
    expect(log).toEqual(["job", "idle"]);
  });
});
