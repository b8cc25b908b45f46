import { afterFault } from "./check-after.ts";
import { comparable, differences, isComplete, numberingFaults } from "./compare-events.ts";
import { fillIn } from "./fill-in.ts";
import { type PlayedStream, Player, pause, type Stage } from "./player.ts";
import type { Conversation, Matcher } from "./vector.ts";

/** A subscription is left when it has been quiet for this long after everything expected. */
const QUIET_MS = 300;
/** How long a subscription may take to bring what is still missing. */
const PATIENCE_MS = 15_000;

/** Plays a conversation on a stage that is ready for it. Empty when everything is as expected. */
export async function runConversation(conversation: Conversation, stage: Stage): Promise<unknown[]> {
  const player = new Player(stage);
  try {
    await player.createSession();
    await player.play(conversation.client_actions);
    const expected = conversation.expect_events;
    const faults = [...player.faults, ...(await endFaults(player))];
    for (const [name, matchers] of Object.entries(expected)) {
      const stream = player.stream(name);
      if (stream.rpc === "SubscribeEvents") await settle(stream, fillIn(matchers, player.captures), player);
    }
    for (const [name, matchers] of Object.entries(expected)) {
      const { rpc, recorded } = player.stream(name);
      // Filled in now: the lists of earlier streams leave captures for later ones.
      const filled = fillIn(matchers, player.captures);
      const found = [
        ...numberingFaults(recorded.events),
        ...differences(filled, comparable(recorded.events, filled, rpc), player.captures),
      ];
      faults.push(...found.map((fault) => ({ stream: name, fault })));
    }
    for (const check of conversation.expect_after ?? []) {
      const fault = await afterFault(check, player, stage);
      if (fault !== undefined) faults.push(fault);
    }
    return faults;
  } finally {
    player.leave();
  }
}

/** Waits until every message has been answered, and says which streams ended otherwise than expected. */
async function endFaults(player: Player): Promise<unknown[]> {
  const faults: unknown[] = [];
  for (const [name, { rpc, expectedEnd }] of player.streams) {
    // Subscriptions end when they are left.
    if (rpc === "SubscribeEvents" && expectedEnd?.code === "OK") continue;
    faults.push(...(await player.endFaults(name)));
  }
  return faults;
}

/** Reads a subscription until it has what is expected and is quiet. */
async function settle(
  { recorded, rpc }: PlayedStream,
  matchers: readonly Matcher[],
  player: Player,
): Promise<void> {
  const start = performance.now();
  const complete = (): boolean =>
    isComplete(matchers, comparable(recorded.events, matchers, rpc), player.captures);
  while (!complete() && recorded.status === undefined && performance.now() - start < PATIENCE_MS) {
    await Promise.race([recorded.changed(), pause(PATIENCE_MS / 10)]);
  }
  for (let seen = -1; seen !== recorded.events.length; ) {
    seen = recorded.events.length;
    await pause(QUIET_MS);
  }
}
