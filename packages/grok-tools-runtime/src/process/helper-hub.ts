import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Clock, type IdSource, type Logger, TriviumError } from "@trivium/core";
import { Helper } from "./helper.ts";
import { HelperRegistry, RUNTIME_FOLDER_PREFIX } from "./helper-registry.ts";
import { FrameChannel } from "./supervisor/frame-channel.ts";
import { HELPER_START_VARIABLE, type HelperStart } from "./supervisor/helper-connection.ts";
import type {
  CleanUpMessage,
  FromHelper,
  HelperRole,
  ReportedProcess,
  ToHelper,
} from "./supervisor/message.ts";

export interface HelperHubOptions {
  /** Folder for the record of this server's processes. */
  readonly dataFolder: string;
  readonly serverId: string;
  readonly isFallback: boolean;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

type Expected = { readonly resolve: (helper: Helper) => void; readonly reject: (error: Error) => void };

/** A helper that has not said hello by then will not. */
const START_LIMIT_MS = 20_000;
const CLEAN_UP_LIMIT_MS = 12_000;
const EXIT_LIMIT_MS = 3000;
/** `sun_path` holds 108 bytes; the socket's name comes on top. */
const MAX_FOLDER_BYTES = 80;

/**
 * Connects the server with its helper processes. The guardian is the only one the server starts itself, once and
 * early; all others are started by the guardian.
 */
export class HelperHub {
  readonly #options: HelperHubOptions;
  readonly #expected = new Map<string, Expected>();
  readonly #cleaned = new Map<number, (survivors: readonly ReportedProcess[]) => void>();
  readonly #helpers = new Set<Helper>();
  readonly #server: Server;
  readonly #folder: string;
  readonly #registry: HelperRegistry;
  #guardian: Promise<Helper> | undefined;
  #guardianProcess: ChildProcess | undefined;
  #isClosing = false;

  private constructor(options: HelperHubOptions, folder: string, registry: HelperRegistry) {
    this.#options = options;
    this.#folder = folder;
    this.#registry = registry;
    this.#server = createServer((socket) => this.#greet(socket));
  }

  /** Opens the socket and starts the guardian. */
  static async open(options: HelperHubOptions): Promise<HelperHub> {
    const parent = Buffer.byteLength(tmpdir()) > MAX_FOLDER_BYTES ? "/tmp" : tmpdir();
    const folder = await mkdtemp(join(parent, RUNTIME_FOLDER_PREFIX));
    const registry = await HelperRegistry.open(options.dataFolder, options.serverId, folder);
    const hub = new HelperHub(options, folder, registry);
    await new Promise<void>((resolve, reject) => {
      hub.#server.once("error", reject);
      hub.#server.listen(join(folder, "helpers"), resolve);
    });
    hub.#server.on("error", (error) =>
      options.logger.error({ error }, "the socket of the helper processes fails"),
    );
    try {
      await hub.guardian();
    } catch (error) {
      await hub.close();
      throw error;
    }
    return hub;
  }

  /** The parent of all helpers; started again if it was lost. */
  guardian(): Promise<Helper> {
    this.#guardian ??= this.#startGuardian();
    return this.#guardian;
  }

  /** @throws {@link TriviumError} `unavailable` when it does not start. */
  async startHelper(role: HelperRole): Promise<Helper> {
    const guardian = await this.guardian();
    const token = this.#options.ids.hex(16);
    const helper = this.#expect(token, role);
    if (!guardian.send({ type: "start-helper", role, token })) this.#fail(token, "the guardian is gone");
    return await helper;
  }

  /** Ends what a lost supervisor has left. Resolves with what could not be ended. */
  async cleanUp(request: Omit<CleanUpMessage, "type">): Promise<readonly ReportedProcess[]> {
    const guardian = await this.guardian();
    return await new Promise((resolve) => {
      const timer = this.#options.clock.setTimer(CLEAN_UP_LIMIT_MS, () => finish([]));
      const finish = (survivors: readonly ReportedProcess[]): void => {
        timer[Symbol.dispose]();
        this.#cleaned.delete(request.supervisor.pid);
        resolve(survivors);
      };
      this.#cleaned.set(request.supervisor.pid, finish);
      if (!guardian.send({ type: "clean-up", ...request })) finish([]);
    });
  }

  /** Lets every helper go; they end their commands first. Resolves when all have ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const token of this.#expected.keys()) this.#fail(token, "the runner is closing");
    for (const helper of this.#helpers) helper.close();
    await this.#guardianEnd();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    await rm(this.#folder, { recursive: true, force: true });
    await this.#registry.close();
  }

  async #guardianEnd(): Promise<void> {
    const guardian = this.#guardianProcess;
    if (guardian === undefined || guardian.exitCode !== null || guardian.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.setTimer(EXIT_LIMIT_MS, () => guardian.kill("SIGKILL"));
      guardian.once("exit", () => {
        timer[Symbol.dispose]();
        resolve();
      });
    });
  }

  async #startGuardian(): Promise<Helper> {
    if (this.#isClosing) throw unavailable("the runner is closing");
    const token = this.#options.ids.hex(16);
    const start: HelperStart = {
      role: "guardian",
      channelPath: join(this.#folder, "helpers"),
      token,
      folder: this.#folder,
      serverId: this.#options.serverId,
      isFallback: this.#options.isFallback,
    };
    const connected = this.#expect(token, "guardian");
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", supervisorScript()], {
      cwd: "/",
      env: helperEnvironment(start),
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    this.#guardianProcess = child;
    child.once("error", (error) => this.#fail(token, String(error)));
    child.once("exit", (exitCode, signal) => this.#fail(token, signal ?? `exit code ${exitCode}`));
    child.stderr.on("data", (chunk: Buffer) => {
      this.#options.logger.warn({ text: chunk.subarray(0, 4096).toString() }, "a helper process complains");
    });
    const guardian = await connected.catch((error: unknown) => {
      this.#guardian = undefined;
      throw error;
    });
    guardian.listen(
      (message) => this.#onGuardianMessage(message),
      () => {
        this.#guardian = undefined;
        for (const waiting of this.#expected.keys()) this.#fail(waiting, "the guardian is gone");
        for (const finish of this.#cleaned.values()) finish([]);
        if (!this.#isClosing) this.#options.logger.error({}, "the guardian of the helper processes is gone");
      },
    );
    return guardian;
  }

  #onGuardianMessage(message: FromHelper): void {
    if (message.type === "helper-ended") this.#fail(message.token, message.why);
    else if (message.type === "cleaned-up") this.#cleaned.get(message.supervisorPid)?.(message.survivors);
  }

  #expect(token: string, role: HelperRole): Promise<Helper> {
    if (this.#isClosing) return Promise.reject(unavailable("the runner is closing"));
    return new Promise((resolve, reject) => {
      const timer = this.#options.clock.setTimer(START_LIMIT_MS, () => this.#fail(token, "no answer"));
      const settle = (): void => {
        timer[Symbol.dispose]();
        this.#expected.delete(token);
      };
      this.#expected.set(token, {
        resolve(helper) {
          settle();
          resolve(helper);
        },
        reject(error) {
          settle();
          reject(new TriviumError("unavailable", `a ${role} process did not start: ${error.message}`));
        },
      });
    });
  }

  #fail(token: string, why: string): void {
    this.#expected.get(token)?.reject(unavailable(why));
  }

  /** The first message of a connection tells which helper it is. Anybody else is turned away. */
  #greet(socket: Socket): void {
    let helper: Helper | undefined;
    const silence = this.#options.clock.setTimer(START_LIMIT_MS, () => socket.destroy());
    const channel = new FrameChannel<FromHelper, ToHelper>(
      socket,
      {
        onMessage: (message, bytes) => {
          if (helper === undefined) helper = this.#admit(message, channel);
          else helper.receive(message, bytes);
          silence[Symbol.dispose]();
        },
        onClose: () => {
          silence[Symbol.dispose]();
          if (helper !== undefined) this.#lose(helper);
        },
      },
      "stranger",
    );
  }

  #admit(message: FromHelper, channel: FrameChannel<FromHelper, ToHelper>): Helper | undefined {
    const expected = message.type === "hello" ? this.#expected.get(message.token) : undefined;
    if (message.type !== "hello" || expected === undefined) {
      channel.destroy();
      return undefined;
    }
    channel.trustPeer();
    const helper = new Helper(message, channel);
    this.#helpers.add(helper);
    this.#record(this.#registry.add(message));
    expected.resolve(helper);
    return helper;
  }

  #lose(helper: Helper): void {
    this.#helpers.delete(helper);
    if (!this.#isClosing) this.#record(this.#registry.remove(helper.pid));
    helper.lose();
  }

  #record(written: Promise<void>): void {
    written.catch((error: unknown) => {
      if (!this.#isClosing) this.#options.logger.warn({ error }, "cannot write down a helper process");
    });
  }
}

/** The file that runs as a helper: beside this one in the sources, an entry of its own in the built package. */
function supervisorScript(): string {
  const name = import.meta.url.endsWith(".ts") ? "./supervisor/supervisor.ts" : "./supervisor.js";
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Helpers get nothing of the server's environment but what a program needs to run at all. */
function helperEnvironment(start: HelperStart): Record<string, string> {
  const { PATH = "/usr/local/bin:/usr/bin:/bin" } = process.env;
  return { PATH, [HELPER_START_VARIABLE]: JSON.stringify(start) };
}

function unavailable(message: string): TriviumError {
  return new TriviumError("unavailable", message);
}
