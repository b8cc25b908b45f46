import { resolve } from "node:path";
import { type Clock, type Logger, linkSignals, TriviumError } from "@trivium/core";
import type { LspServerConfig } from "../config/lsp-server-config.ts";
import { type ChannelScope, openChannel } from "../connection/open-channel.ts";
import { toFileUri } from "../documents/file-uri.ts";
import { initializeParams, workspaceFolderOf } from "./initialize-params.ts";
import { readCapabilities, type ServerCapabilities } from "./server-capabilities.ts";
import { ServerLink, type ServerLinkOptions } from "./server-link.ts";

/** What a session with a server needs. */
export interface ServerSessionDeps extends Pick<ServerLinkOptions, "onNotification" | "onRefresh"> {
  readonly scope: ChannelScope & { readonly clock: Clock; readonly logger: Logger };
  /** Ends the start. */
  readonly signal: AbortSignal;
}

/** A running server that was initialised. It must be closed, also after it is lost. */
export class ServerSession {
  readonly capabilities: ServerCapabilities;
  readonly #link: ServerLink;
  readonly #config: LspServerConfig;
  readonly #clock: Clock;

  private constructor(
    link: ServerLink,
    capabilities: ServerCapabilities,
    parts: { readonly config: LspServerConfig; readonly clock: Clock },
  ) {
    this.#link = link;
    this.capabilities = capabilities;
    this.#config = parts.config;
    this.#clock = parts.clock;
  }

  /**
   * Starts and initialises a server.
   *
   * @throws {@link TriviumError} `notFound` when there is no such program, `unavailable` with the reason when it ends or
   * cannot be understood; ResponseError for its error; the reason of `signal`. Nothing runs then.
   */
  static async open(config: LspServerConfig, deps: ServerSessionDeps): Promise<ServerSession> {
    const { scope, signal } = deps;
    const folder = workspaceFolderOf(config, scope.sessionDirectory);
    const channel = await openChannel(scope, config, signal);
    const link = new ServerLink(channel, { ...deps, config, folder, logger: scope.logger });
    try {
      const answer = await link.request("initialize", initializeParams(config, folder), signal);
      const capabilities = readCapabilities(answer);
      if (capabilities === undefined) {
        throw new TriviumError("unavailable", "its answer to initialize has no capabilities");
      }
      await greet(link, config, scope.sessionDirectory);
      return new ServerSession(link, capabilities, { config, clock: scope.clock });
    } catch (thrown) {
      await link.cut();
      throw thrown;
    }
  }

  /** Aborts when the server has ended or cannot be understood, with the reason. */
  get lost(): AbortSignal {
    return this.#link.lost;
  }

  /**
   * Asks the server.
   *
   * @throws ResponseError for its error; {@link TriviumError} `unavailable` when it is lost; the reason of `signal`.
   */
  request(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    return this.#link.request(method, params, signal);
  }

  /** Tells the server. Resolves when it may be told more, or is lost. */
  notify(method: string, params: object): Promise<void> {
    return this.#link.notify(method, params);
  }

  /** Asks the server to end, and kills it when it has not ended in the time it has. */
  async close(): Promise<void> {
    const timeoutMs = this.#config.shutdownTimeoutMs;
    using time = linkSignals([this.lost], { timeoutMs, clock: this.#clock });
    await this.#sayGoodbye(time.signal).catch(() => {
      // It is killed whether it has refused, is lost or takes too long.
    });
    await this.#link.cut();
  }

  async #sayGoodbye(signal: AbortSignal): Promise<void> {
    await this.#link.request("shutdown", undefined, signal);
    await this.#link.notify("exit");
    await Promise.race([this.#link.endInput(), aborted(signal)]);
  }
}

/** What a server hears after it was initialised. */
async function greet(
  link: ServerLink,
  { settings, workspaceOpen }: LspServerConfig,
  sessionDirectory: string,
): Promise<void> {
  const uriOf = (path: string): string => toFileUri(resolve(sessionDirectory, path));
  await link.notify("initialized", {});
  if (settings !== undefined) await link.notify("workspace/didChangeConfiguration", { settings });
  const { solution, projects = [] } = workspaceOpen ?? {};
  if (solution !== undefined) await link.notify("solution/open", { solution: uriOf(solution) });
  if (projects.length > 0) await link.notify("project/open", { projects: projects.map(uriOf) });
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
