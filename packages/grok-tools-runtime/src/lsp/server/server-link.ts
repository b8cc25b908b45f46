import { abortable, abortReason, type Logger, linkSignals, TriviumError } from "@trivium/core";
import {
  CancellationTokenSource,
  createMessageConnection,
  type MessageConnection,
  NullLogger,
} from "vscode-jsonrpc/node";
import type { LspServerConfig } from "../config/lsp-server-config.ts";
import { ChannelMessageReader, ChannelMessageWriter } from "../connection/channel-messages.ts";
import type { ServerChannel } from "../connection/server-channel.ts";
import { answerServer } from "./answer-server.ts";
import type { WorkspaceFolder } from "./initialize-params.ts";

/** What a link tells its owner, and what it answers for. */
export interface ServerLinkOptions {
  readonly config: LspServerConfig;
  readonly folder: WorkspaceFolder;
  readonly logger: Logger;
  /** The server has said something of its own accord. */
  onNotification(method: string, params: unknown): void;
  /** Diagnostics that were asked for before are out of date. */
  onRefresh(): void;
}

/** The conversation with the program of a server. Ends with {@link ServerLink.cut}, also when it is lost. */
export class ServerLink {
  readonly #channel: ServerChannel;
  readonly #connection: MessageConnection;
  readonly #lost = new AbortController();
  readonly #logger: Logger;

  constructor(channel: ServerChannel, options: ServerLinkOptions) {
    this.#channel = channel;
    this.#logger = options.logger;
    this.#connection = createMessageConnection(
      new ChannelMessageReader(channel),
      new ChannelMessageWriter(channel),
      NullLogger,
    );
    this.#listen(options);
    void channel.ended.then((reason) => this.#lose(`it has ended with ${reason}`));
  }

  /** Aborts when the server has ended or cannot be understood, with the reason. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Asks the server.
   *
   * @throws ResponseError for its error; {@link TriviumError} `unavailable` when it is lost; the reason of `signal`.
   */
  async request(method: string, params: object | undefined, signal: AbortSignal): Promise<unknown> {
    using link = linkSignals([this.lost, signal]);
    if (link.signal.aborted) throw abortReason(link.signal);
    const cancellation = new CancellationTokenSource();
    const cancel = (): void => cancellation.cancel();
    link.signal.addEventListener("abort", cancel, { once: true });
    try {
      const answer: Promise<unknown> =
        params === undefined
          ? this.#connection.sendRequest(method, cancellation.token)
          : this.#connection.sendRequest(method, params, cancellation.token);
      return await abortable(answer, link.signal);
    } finally {
      link.signal.removeEventListener("abort", cancel);
      cancellation.dispose();
    }
  }

  /** Tells the server. Resolves when it may be told more, or is lost. */
  async notify(method: string, params?: object): Promise<void> {
    if (this.lost.aborted) return;
    const sent =
      params === undefined
        ? this.#connection.sendNotification(method)
        : this.#connection.sendNotification(method, params);
    await abortable(sent, this.lost).catch((cause: unknown) => {
      if (!this.lost.aborted) this.#logger.warn({ method, cause }, "a language server could not be told");
    });
  }

  /** The server reads an end of file. Resolves when it has ended. */
  async endInput(): Promise<void> {
    this.#channel.endInput();
    await this.#channel.ended;
  }

  /** Ends the program at once, with everything it has started. */
  async cut(): Promise<void> {
    this.#lose("it was stopped");
    this.#connection.dispose();
    await this.#channel.stop();
  }

  #listen(options: ServerLinkOptions): void {
    this.#connection.onRequest((method, params) => {
      if (method === "workspace/diagnostic/refresh") options.onRefresh();
      return answerServer({ method, params }, options);
    });
    this.#connection.onNotification((method, params: unknown) => options.onNotification(method, params));
    this.#connection.onError(([error]) => this.#lose(`it cannot be understood: ${error.message}`));
    this.#connection.onClose(() => this.#closed());
    this.#connection.listen();
  }

  /** How a program has ended says more than that its output has. */
  #closed(): void {
    void this.#channel.stop().then(async () => this.#lose(`it has ended with ${await this.#channel.ended}`));
  }

  #lose(reason: string): void {
    if (!this.lost.aborted) this.#lost.abort(new TriviumError("unavailable", reason));
  }
}
