import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { CodeModeRuntime } from "@trivium/code-mode-runtime";
import { CodeModeHost } from "@trivium/proto/code-mode";

/**
 * Runs a program that does nothing and encodes a message of each kind, so that the first client does not wait until all
 * of that is loaded and compiled. Never rejects: a host that cannot do it will tell its clients.
 */
export async function warmUpCodeMode(runtime: CodeModeRuntime): Promise<void> {
  try {
    for (const { input, output } of CodeModeHost.methods) {
      fromBinary(input, toBinary(input, create(input)));
      fromBinary(output, toBinary(output, create(output)));
    }
    const session = runtime.openSession({ outputMode: "unbounded", heartbeatIntervalMs: 0 });
    try {
      await session.execute({ executionId: "warm-up", callId: "warm-up", source: 'text("")', tools: [] })
        .outcome;
    } finally {
      await session.close();
    }
  } catch {
    // Shutting down already, or no worker: nothing is warm then.
  }
}
