import { parseLossless } from "./lossless-json.ts";
import { type Peer, toFrame } from "./peer.ts";
import { isEndedByClient, type Message, type RecordedFrame, type V1Vector } from "./vector.ts";

/** What a replay saw. */
export interface Seen {
  readonly messages: readonly Message[];
  /** The host closed the connection while the client still could have spoken. */
  readonly hostClosedFirst: boolean;
  /** Undefined where the carrier does not tell. */
  readonly exitCode: number | undefined;
}

/** Time a program gets to reach the point at which the recording interfered with it. */
const HEAD_START_MS = 120;
/** Time for what the host still has to say, and for it to close by itself. */
const PATIENCE_MS = 8_000;
/** An observation that lasted longer was ended by a client that had waited before it did. */
const LATE_NS = 200_000_000;
/** Time in which nothing more may come. */
const QUIET_MS = 30;

/** Plays the client of a recording. */
export async function replay(vector: V1Vector, peer: Peer): Promise<Seen> {
  const messages: Message[] = [];
  let wake = (): void => {};
  peer.onPayload((payload) => {
    messages.push(parseLossless(payload.toString()) as Message);
    wake();
  });
  let hasEnded = false;
  void peer.ended.then(() => {
    hasEnded = true;
    wake();
  });
  const until = async (count: number): Promise<void> => {
    const timer = setTimeout(() => wake(), PATIENCE_MS);
    const deadline = performance.now() + PATIENCE_MS;
    while (messages.length < count && !hasEnded && performance.now() < deadline) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    clearTimeout(timer);
  };

  let expected = 0;
  for (const step of toSteps(vector)) {
    if ("sent" in step) {
      if (step.cameLate) await pause(HEAD_START_MS);
      peer.send(step.sent.map(toBytes));
    } else {
      expected += step.count;
      await until(expected);
    }
  }
  const closes = isEndedByClient(vector);
  if (closes && !vector.end.hostClosedFirst) await pause(QUIET_MS);
  const hostClosedFirst = hasEnded || (!closes && (await endsWithin(peer, PATIENCE_MS)));
  peer.close();
  return { messages, hostClosedFirst, exitCode: await peer.ended };
}

/** Frames that are sent in one piece, or the number of messages that the host sends next. */
type Step = { sent: RecordedFrame[]; cameLate: boolean } | { count: number };

function toSteps({ frames, elided }: V1Vector): Step[] {
  const steps: Step[] = [];
  const left = { ...elided };
  for (const frame of frames) {
    const last = steps.at(-1);
    if (frame.dir === "c2h") {
      if (last !== undefined && "sent" in last) last.sent.push(frame);
      else steps.push({ sent: [frame], cameLate: false });
      continue;
    }
    const type = frame.json?.type ?? "";
    const count = 1 + (left[type] ?? 0);
    left[type] = 0;
    const before = steps.at(last !== undefined && "sent" in last ? -1 : -2);
    if (before !== undefined && "sent" in before && tookTime(frame.json))
      before.cameLate ||= interferes(before.sent);
    if (last === undefined || "sent" in last) steps.push({ count });
    else last.count += count;
  }
  return steps;
}

/** True for messages that end what a program does, or the look at it. */
function interferes(frames: readonly RecordedFrame[]): boolean {
  return frames.some(({ json }) => {
    const method = (json?.["request"] as { method?: string } | undefined)?.method ?? "";
    return json?.type === "operation/yield" || ["session/terminate", "session/shutdown"].includes(method);
  });
}

/** True for an answer that only a program gives which has had some time: a long look, or output before its end. */
function tookTime(message: Message | undefined): boolean {
  const text = JSON.stringify(message) ?? "";
  const duration = /"code_mode_host_duration_ns":(\d+)/.exec(text)?.[1];
  return Number(duration ?? 0) > LATE_NS || /"Terminated":.*"input_text"/.test(text);
}

function toBytes({ json, rawHex }: RecordedFrame): Buffer {
  return rawHex === undefined ? toFrame(JSON.stringify(json)) : Buffer.from(rawHex, "hex");
}

function pause(timeMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, timeMs));
}

async function endsWithin(peer: Peer, timeMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeMs);
  });
  const ends = await Promise.race([peer.ended.then(() => true), tooLate]);
  clearTimeout(timer);
  return ends;
}
