import {
  type Clock,
  type IdSource,
  type Logger,
  linkSignals,
  randomIds,
  silentLogger,
  sleep,
  systemClock,
  TriviumError,
} from "@trivium/core";
import type { SettingsSources } from "../crabcode-runtime.ts";
import { OFFLINE_PROFILE } from "../models/offline/offline-model.ts";
import type { ModelCatalogue } from "../ports/model-port.ts";
import { readSettings } from "../settings/read-settings.ts";
import type { HostedAgentEnd, HostedAgentRequest, HostedAgents } from "./hosted-agents.ts";
import { HostedOwner } from "./hosted-owner.ts";
import { runHostedAgent } from "./run-hosted-agent.ts";

/** Options of {@link createHostedAgents}. */
export interface HostedAgentsOptions {
  readonly models: ModelCatalogue;
  readonly settings?: SettingsSources;
  /** Folder whose settings tell which models there are. Absolute. */
  readonly cwd: string;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly logger?: Logger;
}

/** Work that has not ended by then when everything is stopped is left behind. */
const CLOSE_BOUND_MS = 3_000;

/** Makes a host for agents of other parts of the process. It opens nothing before the first agent runs. */
export function createHostedAgents(options: HostedAgentsOptions): HostedAgents {
  return new Host(options);
}

class Host implements HostedAgents {
  readonly #models: ModelCatalogue;
  readonly #sources: SettingsSources;
  readonly #cwd: string;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #logger: Logger;
  readonly #owners = new WeakMap<object, HostedOwner>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor({ models, settings = {}, cwd, ...ports }: HostedAgentsOptions) {
    this.#models = models;
    this.#sources = settings;
    this.#cwd = cwd;
    this.#clock = ports.clock ?? systemClock;
    this.#ids = ports.ids ?? randomIds;
    this.#logger = ports.logger ?? silentLogger;
  }

  get hasModel(): boolean {
    const { models } = readSettings(this.#sources, this.#cwd, this.#logger);
    return models.defaultModel === OFFLINE_PROFILE || this.#models.defaultProfile(models) !== OFFLINE_PROFILE;
  }

  acceptsModel(profile: string): boolean {
    const { models } = readSettings(this.#sources, this.#cwd, this.#logger);
    if (!this.#models.list(models).some(({ name }) => name === profile)) return false;
    try {
      const state = { read: () => undefined, write: () => {} };
      this.#models.open(profile, { settings: models, sessionId: "", state });
      return true;
    } catch {
      // Whatever it lacks, it cannot be used.
      return false;
    }
  }

  async run(request: HostedAgentRequest, signal: AbortSignal): Promise<HostedAgentEnd> {
    if (this.#closing.signal.aborted) {
      throw new TriviumError("unavailable", "agents cannot be run any more: the server is shutting down");
    }
    const running = this.#run(request, signal);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new TriviumError("unavailable", "the server is shutting down"));
    const done = new AbortController();
    // The sleep rejects when it is not needed any more.
    const isLate = sleep(this.#clock, CLOSE_BOUND_MS, done.signal).then(
      () => true,
      () => false,
    );
    const ended = Promise.allSettled(this.#running).then(() => false);
    if (await Promise.race([ended, isLate])) this.#logger.warn({}, "a hosted agent did not end in time");
    done.abort();
  }

  async #run(request: HostedAgentRequest, signal: AbortSignal): Promise<HostedAgentEnd> {
    using link = linkSignals([signal, this.#closing.signal]);
    const environment = { models: this.#models, clock: this.#clock, ids: this.#ids, logger: this.#logger };
    const settings = readSettings(this.#sources, request.cwd, this.#logger);
    const owner = this.#ownerOf(request.owner);
    return await runHostedAgent(request, { owner, settings, environment, signal: link.signal });
  }

  #ownerOf(key: object): HostedOwner {
    let owner = this.#owners.get(key);
    if (owner === undefined) {
      owner = new HostedOwner();
      this.#owners.set(key, owner);
    }
    return owner;
  }
}
