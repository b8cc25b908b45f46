/** A recording that this implementation does not follow. */
interface Deviation {
  readonly reason: string;
  /** Set: over this carrier only. */
  readonly carrier?: "WebSocket";
}

/** Recordings that this implementation does not follow, each with the reason. */
export const permittedV1Deviations: Readonly<Record<string, Deviation>> = {
  "limits-heap": {
    reason:
      "The original ignores maxHeapSizeBytes and dies with every session; here the limit holds and only the cell ends.",
  },
  "delegate-burst-closes": {
    reason:
      "The original breaks the connection on some 255 calls in one turn; here all are sent, up to the capacity.",
  },
  "hello-all-optional": {
    carrier: "WebSocket",
    reason: "Recorded over pipes, where no second socket can be had; over a WebSocket it is granted.",
  },
  "hello-required-dual-websocket": {
    carrier: "WebSocket",
    reason: "Recorded over pipes, where no second socket can be had; over a WebSocket it is granted.",
  },
};

/** True when the recording is not followed over that carrier. */
export function isPermittedDeviation(name: string, carrier: "pipes" | "WebSocket"): boolean {
  const deviation = permittedV1Deviations[name];
  return deviation !== undefined && (deviation.carrier ?? carrier) === carrier;
}
