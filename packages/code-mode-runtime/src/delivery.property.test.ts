import fc from "fast-check";
import { expect, it } from "vitest";
import type { CellOutcome } from "./cell/outcome.ts";
import { createSessionHarness, settle, texts } from "./testing/session-harness.ts";

const action = fc.constantFrom(
  "text",
  "yield-control",
  "wait",
  "cancel-wait",
  "yield-observation",
  "advance",
  "settle",
);

/** The program ends in one of these ways, possibly while somebody waits. */
const ending = fc.constantFrom("complete", "terminate", "complete-and-terminate");

it("delivers what a program emits exactly once and in order, whatever observers do", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 30 }), ending, async (actions, end) => {
      const { start, session, clock } = createSessionHarness();
      const emitted: string[] = [];
      const delivered: CellOutcome[] = [];
      const { execution, cell } = start({ yieldTimeMs: 50 });
      const observations: Promise<void>[] = [];
      const observe = (outcome: Promise<CellOutcome | undefined>): void => {
        observations.push(
          outcome.then(
            (value) => void (value !== undefined && delivered.push(value)),
            () => {},
          ),
        );
      };
      observe(execution.outcome);
      let waits = 0;
      const wait = (): void => {
        const waitId = `w${++waits}`;
        observe(session.wait({ cellId: "1", waitId, yieldTimeMs: 30 }).then(({ outcome }) => outcome));
      };
      for (const step of actions) {
        if (step === "text") {
          emitted.push(String(emitted.length));
          cell.text(String(emitted.length - 1));
        } else if (step === "yield-control") cell.listener.yieldRequested();
        else if (step === "wait") wait();
        else if (step === "cancel-wait") session.cancelWait(`w${waits}`);
        else if (step === "yield-observation")
          session.yieldObservation({ type: "execution", executionId: "e1" });
        else if (step === "advance") await clock.advance(20);
        else await settle();
      }
      await settle();
      // An active observer and the Terminate beside it get the same items, so only one of them is counted.
      for (let index = 1; index <= waits; index++) session.cancelWait(`w${index}`);
      session.yieldObservation({ type: "execution", executionId: "e1" });
      await settle();
      if (end !== "terminate") cell.complete();
      if (end === "complete") wait();
      else observe(session.terminate("1", {}).then(({ outcome }) => outcome));
      await settle();
      await Promise.all(observations);
      expect(delivered.flatMap(texts)).toEqual(emitted);
    }),
    { numRuns: 100 },
  );
});
