import { connect } from "node:net";
import { FrameChannel } from "./frame-channel.ts";
import type { FromHelper, HelperRole, ToHelper } from "./message.ts";
import { loadNativeCalls, type NativeCalls } from "./native-calls.ts";
import { readProcessStat } from "./process-table.ts";

/** What a helper process gets in its environment. */
export interface HelperStart {
  readonly role: HelperRole;
  /** Socket of the server. */
  readonly channelPath: string;
  /** Proves to the server which helper this is. */
  readonly token: string;
  /** Private folder of the server's helpers. */
  readonly folder: string;
  /** The server that the helper works for; commands carry its id. */
  readonly serverId: string;
  /** Leaves the system calls out even where they are to be had. */
  readonly isFallback: boolean;
}

/** Environment variable that holds a {@link HelperStart} as JSON. */
export const HELPER_START_VARIABLE = "TRIVIUM_HELPER_START";

export interface HelperConnection {
  readonly native: NativeCalls | undefined;
  readonly channel: FrameChannel<ToHelper, FromHelper>;
}

/** Connects a helper to its server and says hello. `onClose` means that the server is gone. */
export function connectHelper(
  start: HelperStart,
  onMessage: (message: ToHelper, bytes: Uint8Array) => void,
  onClose: () => void,
): HelperConnection {
  const calls = start.isFallback ? undefined : loadNativeCalls();
  // Programs are ended by their group; adopting orphans there would only collect zombies.
  const isSubreaper = start.role !== "programs" && calls?.becomeSubreaper() === true;
  const native = start.role === "programs" || isSubreaper ? calls : undefined;
  const channel = new FrameChannel<ToHelper, FromHelper>(connect(start.channelPath), { onMessage, onClose });
  channel.send({
    type: "hello",
    token: start.token,
    pid: process.pid,
    startTicks: readProcessStat(process.pid)?.startTicks ?? 0,
    isSubreaper,
    landlockVersion: calls?.landlockVersion() ?? 0,
  });
  return { native, channel };
}
