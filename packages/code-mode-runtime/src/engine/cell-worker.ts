// Program of a worker process: node cell-worker.js ADDON_FILE DEFAULT_HEAP_LIMIT_BYTES DESCRIPTORS, with a socket on
// descriptor 3. DESCRIPTORS, separated by commas, are open without being meant for it.
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { reportKind } from "./frame.ts";
import { FrameServer } from "./worker/frame-server.ts";
import { IsolatedVmRuntime } from "./worker/isolated-vm-runtime.ts";
import { loadIsolatedVm } from "./worker/load-isolated-vm.ts";

/** A normal exit hangs or crashes while isolates run, so every end is this one. */
function endProcess(): void {
  process.kill(process.pid, "SIGKILL");
}

function complain(what: string): void {
  process.stderr.write(`${what}\n`, endProcess);
}

process.on("uncaughtException", (error) => complain(error.stack ?? String(error)));
process.on("unhandledRejection", (reason) =>
  complain(reason instanceof Error ? (reason.stack ?? "") : "rejection"),
);

const [addonFile = "", heapLimitBytes = "", descriptors = ""] = process.argv.slice(2);
for (const descriptor of descriptors.split(",").filter((text) => text !== "")) {
  try {
    closeSync(Number(descriptor));
  } catch {
    // The server closed it between its look and the start.
  }
}
const socket = new Socket({ fd: 3, readable: true, writable: true });
for (const event of ["end", "close", "error"]) socket.on(event, endProcess);

void IsolatedVmRuntime.create(loadIsolatedVm(addonFile), Number(heapLimitBytes), {
  stuckThreads: (count) => reportStuck(count),
  catastrophe: complain,
}).then((runtime) => {
  const server = new FrameServer(socket, runtime);
  reportStuck = (count) => server.report(reportKind.stuck, String(count));
  server.report(reportKind.hello);
});
let reportStuck: (count: number) => void = () => {};
