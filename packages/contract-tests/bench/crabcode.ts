/**
 * `pnpm bench`: what conversations cost, over gRPC and against a provider on loopback.
 *
 * Parameters choose figures by name; without any all are measured.
 */
import { benchFanOut } from "./crabcode/fan-out.ts";
import { benchIdleSessions } from "./crabcode/idle-sessions.ts";
import { benchLatency } from "./crabcode/latency.ts";
import { benchLongHistory } from "./crabcode/long-history.ts";
import { benchStalledReader } from "./crabcode/stalled-reader.ts";
import { benchStoredSessions } from "./crabcode/stored-sessions.ts";
import { loadText } from "./grok-tools/measure.ts";

const figures = {
  latency: benchLatency,
  "fan-out": benchFanOut,
  "stalled-reader": benchStalledReader,
  "idle-sessions": benchIdleSessions,
  "stored-sessions": benchStoredSessions,
  "long-history": benchLongHistory,
};

const wanted = process.argv.slice(2);
for (const [name, bench] of Object.entries(figures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`${name}, ${loadText()} before`);
  await bench();
}
// Connections of the transports stay open.
process.exit(0);
