/**
 * Entry of the helper processes. Imports nothing but Node's own modules and this folder, so that it starts fast and
 * stays small.
 *
 * A helper lives as long as the server's channel. It ignores the terminal's signals, since its work is to end
 * commands after everything else is gone.
 */
import { Guardian } from "./guardian.ts";
import { connectHelper, HELPER_START_VARIABLE, type HelperStart } from "./helper-connection.ts";
import type { FromHelper, ToHelper } from "./message.ts";
import { SupervisedCommand } from "./supervised-command.ts";
import { SupervisedProgram } from "./supervised-program.ts";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the server, which has the same version
const start = JSON.parse(process.env[HELPER_START_VARIABLE] ?? "{}") as HelperStart;
delete process.env[HELPER_START_VARIABLE];

/** Work of one role: takes messages, and ends everything when the server is gone. */
interface Worker {
  onMessage(message: ToHelper, bytes: Uint8Array): void;
  endAll(): Promise<void>;
}

const { native, channel } = connectHelper(
  start,
  (message, bytes) => worker.onMessage(message, bytes),
  () => void worker.endAll().finally(() => process.exit(0)),
);
const send = (message: FromHelper, bytes?: Uint8Array): void => void channel.send(message, bytes);
const { folder } = start;
const worker: Worker =
  start.role === "guardian" ? guardian() : start.role === "programs" ? programs() : supervisor();

function guardian(): Worker {
  const guard = new Guardian({ start, native, send });
  process.on("SIGCHLD", () => guard.onChildEnded());
  return {
    onMessage(message) {
      if (message.type === "start-helper") guard.startHelper(message.role, message.token);
      else if (message.type === "clean-up") guard.cleanUp(message);
    },
    endAll: () => guard.endAll(),
  };
}

function supervisor(): Worker {
  let command: SupervisedCommand | undefined;
  let commandId: string | undefined;
  process.on("SIGCHLD", () => command?.onChildEnded());
  return {
    onMessage(message) {
      if (message.type === "run") {
        commandId = message.commandId;
        command = SupervisedCommand.start(message, { native, folder, send });
      } else if (!("commandId" in message) || message.commandId !== commandId || command === undefined) {
        // About a command that is gone: the server learns it from what was sent before.
      } else if (message.type === "kill") void command.kill(message.reason, message.graceMs);
      else if (message.type === "release") void command.release();
      else if (message.type === "read-output") command.sendOutput(message.requestId);
    },
    endAll: async () => await command?.kill("session-ended", 0),
  };
}

function programs(): Worker {
  const running = new Map<number, SupervisedProgram>();
  return {
    onMessage(message, bytes) {
      if (message.type === "program") {
        const { programId } = message;
        const program = SupervisedProgram.start(message, { native, folder, send }, () =>
          running.delete(programId),
        );
        running.set(programId, program);
      } else if (message.type === "program-credit") running.get(message.programId)?.credit(message.bytes);
      else if (message.type === "program-input") running.get(message.programId)?.write(bytes);
      else if (message.type === "program-input-end") running.get(message.programId)?.endInput();
      else if (message.type === "program-stop") running.get(message.programId)?.stop(message.reason);
    },
    endAll() {
      for (const program of running.values()) program.stop("stopped");
      return Promise.resolve();
    },
  };
}
