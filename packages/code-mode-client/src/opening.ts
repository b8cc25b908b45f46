import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import {
  type OpenSessionRequestSchema,
  OutputTruncation,
  type SessionEvent,
  type SessionOpened,
} from "@trivium/proto/code-mode";
import type { OpenSessionOptions } from "./session-options.ts";
import { toUint64 } from "./uint64.ts";

/** Reads the opening of a session. @throws {@link TriviumError} `internal` when there is none. */
export async function firstEvent(events: AsyncIterator<SessionEvent>): Promise<SessionOpened> {
  const first = await events.next();
  if (first.done === true) throw new TriviumError("internal", "the host ended the session before opening it");
  const { event } = first.value;
  if (event.case !== "opened" || event.value.sessionId === "") {
    throw new TriviumError("internal", "the host's first event is not the opening of a session");
  }
  return event.value;
}

/** The fields of an OpenSession. @throws {@link TriviumError} `invalidInput`. */
export function toOpenRequest(
  options: OpenSessionOptions,
  heartbeatIntervalS: number,
): MessageInitShape<typeof OpenSessionRequestSchema> {
  const { maxYieldTimeMs, maxHeapSizeBytes, maxPendingCalls, outputTruncation = "bounded" } = options;
  return {
    cellExecutionLimits: {
      ...(maxYieldTimeMs !== undefined && { maxYieldTimeMs: toUint64("maxYieldTimeMs", maxYieldTimeMs) }),
      ...(maxHeapSizeBytes !== undefined && {
        maxHeapSizeBytes: toUint64("maxHeapSizeBytes", maxHeapSizeBytes),
      }),
    },
    outputTruncation: outputTruncation === "bounded" ? OutputTruncation.BOUNDED : OutputTruncation.OFF,
    ...(maxPendingCalls !== undefined && { maxPendingDelegateCalls: maxPendingCalls }),
    ...(heartbeatIntervalS > 0 && { heartbeatIntervalS }),
  };
}

/** Metadata of an OpenSession. @throws {@link TriviumError} `invalidInput` for a name that no metadata can carry. */
export function toOpenHeaders({
  serverTools,
  toolSession,
  permissionSession,
}: OpenSessionOptions): CallOptions {
  const headers = new Headers();
  if (serverTools !== undefined) headers.set("trivium-server-tools", serverTools);
  if (toolSession !== undefined) headers.set("x-trivium-session", metadata({ toolSession }));
  if (permissionSession !== undefined) {
    headers.set("trivium-permission-session", metadata({ permissionSession }));
  }
  return { headers };
}

/** The value of an option. @throws {@link TriviumError} `invalidInput` */
function metadata(option: Readonly<Record<string, string>>): string {
  const [name = "", value = ""] = Object.entries(option).flat();
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new TriviumError(
    "invalidInput",
    `${name} is ${JSON.stringify(value)}; it may only have visible ASCII characters`,
  );
}
