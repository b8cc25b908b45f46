import type { Transport } from "@connectrpc/connect";
import type { CodeModeDelegate } from "./delegate.ts";
import { LastingSession, type LastingSessionOptions } from "./lasting-session.ts";

/**
 * A code-mode host, for agents: sessions that outlive the loss of their connection, and a delegate that acts for their
 * programs. All sessions share the transport, which stays the caller's.
 *
 * @example
 * ```ts
 * const client = new CodeModeClient(transport);
 * await using session = client.createSession({ invokeTool: ({ name, input }) => callTool(name, input) });
 * const { cellId, initialResponse } = await session.execute("text(await tools.add([1, 2]))", { tools });
 * ```
 */
export class CodeModeClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** A session that is opened when it is first used. */
  createSession(delegate: CodeModeDelegate, options: LastingSessionOptions = {}): LastingSession {
    return new LastingSession(this.#transport, delegate, options);
  }
}
