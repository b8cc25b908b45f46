import { silentLogger } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { Helper } from "./helper.ts";
import { SupervisedRun } from "./supervised-run.ts";
import type { FrameChannel } from "./supervisor/frame-channel.ts";
import type { CleanUpMessage, EndedMessage, FromHelper, ToHelper } from "./supervisor/message.ts";

const shell = { pid: 4711, startTicks: 12 };

it("names the shell of a lost supervisor, with its start, while the command has no result", async () => {
  const { helper, requests } = startRun();
  helper.lose();
  expect(requests).toEqual([{ supervisor: { pid: 7, startTicks: 3 }, commandId: "c", shell }]);
});

it("names no shell that has ended: its number may be another's", async () => {
  const { helper, requests } = startRun();
  const ended: EndedMessage = {
    type: "ended",
    commandId: "c",
    reason: "exited",
    exitCode: 0,
    signal: null,
    durationMs: 1,
    survivors: [],
    leftovers: [],
    streams: [],
  };
  helper.receive(ended, new Uint8Array());
  helper.lose();
  expect(requests).toEqual([{ supervisor: { pid: 7, startTicks: 3 }, commandId: "c", shell: undefined }]);
});

function startRun(): { helper: Helper; requests: Omit<CleanUpMessage, "type">[] } {
  const channel = { send: () => true, destroy: () => {} } as unknown as FrameChannel<FromHelper, ToHelper>;
  const hello = { type: "hello", token: "", pid: 7, startTicks: 3, isSubreaper: false } as const;
  const helper = new Helper({ ...hello, landlockVersion: 0 }, channel);
  const requests: Omit<CleanUpMessage, "type">[] = [];
  const run = new SupervisedRun(
    { argv: ["true"], workingDirectory: "/", env: {}, logPath: "/nowhere/log", headBytes: 0, tailBytes: 0 },
    {
      commandId: "c",
      serverId: "s",
      clock: new ManualClock(),
      logger: silentLogger,
      leaveQueue: () => false,
      onEnded: () => {},
      onVacated: () => {},
      onLost: () => {},
      cleanUp: (request) => {
        requests.push(request);
        return Promise.resolve([]);
      },
    },
  );
  run.runOn(helper);
  helper.receive({ type: "started", commandId: "c", shell }, new Uint8Array());
  return { helper, requests };
}
