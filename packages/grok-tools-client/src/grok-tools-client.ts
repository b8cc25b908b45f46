import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { randomIds, TriviumError } from "@trivium/core";
import { GrokToolsService, type ToolInfo } from "@trivium/proto/grok-tools";
import { sessionHeaders } from "./call-request.ts";
import { toSessionError } from "./session-errors.ts";
import { type ToolSessionConfig, toFinalizeRequest } from "./tool-config.ts";
import { ToolSession } from "./tool-session.ts";

/** Options of {@link GrokToolsClient}. */
export interface GrokToolsClientOptions {
  /** Chooses the session, 1 to 128 characters. Absent: the server's default session. */
  readonly sessionId?: string;
}

/** One tool session on a server, before and after its tools are configured. */
export class GrokToolsClient {
  readonly sessionId: string | undefined;
  readonly #rpc: Client<typeof GrokToolsService>;

  constructor(transport: Transport, { sessionId }: GrokToolsClientOptions = {}) {
    if (sessionId !== undefined && toHeaderText("session id", sessionId).length > 128) {
      throw new TriviumError("invalidInput", "a session id has 1 to 128 characters");
    }
    this.sessionId = sessionId;
    this.#rpc = createClient(GrokToolsService, transport);
  }

  /**
   * Configures the tools of the session. Possible once.
   *
   * @throws {@link FinalizeConfigError} with all violations; {@link TriviumError} for everything else.
   */
  async finalize(config: ToolSessionConfig, options: { signal?: AbortSignal } = {}): Promise<ToolSession> {
    const headers = sessionHeaders(this.sessionId);
    if (config.cwd !== undefined) headers.set("x-trivium-cwd", toHeaderText("cwd", config.cwd));
    const { permissionSession } = config;
    if (permissionSession !== undefined) {
      headers.set("trivium-permission-session", toHeaderText("permissionSession", permissionSession));
    }
    try {
      const response = await this.#rpc.finalizeToolConfigRequest(toFinalizeRequest(config), {
        ...options,
        headers,
      });
      return new ToolSession(this.#rpc, this.sessionId, response);
    } catch (thrown) {
      throw toSessionError(thrown);
    }
  }

  /** The tools of the session, or those the server has while the session is not finalized. */
  async listTools(
    request: { includeDisabled?: boolean; includeSchemas?: boolean } = {},
    options: { signal?: AbortSignal } = {},
  ): Promise<ToolInfo[]> {
    try {
      const headers = sessionHeaders(this.sessionId);
      const { tools } = await this.#rpc.listTools(request, { ...options, headers });
      return tools;
    } catch (thrown) {
      throw toSessionError(thrown);
    }
  }

  /**
   * The session as somebody else finalized it.
   *
   * @throws {@link NotFinalizedError} when nobody has.
   */
  async attach(options: { signal?: AbortSignal } = {}): Promise<ToolSession> {
    try {
      const headers = sessionHeaders(this.sessionId);
      // Listing alone would not tell: a call, even of no tool, is answered only in a finalized session.
      await this.#rpc.executeTool({}, { ...options, headers });
      const { tools } = await this.#rpc.listTools({ includeSchemas: true }, { ...options, headers });
      return new ToolSession(this.#rpc, this.sessionId, { tools, message: "", versionWarnings: [] });
    } catch (thrown) {
      throw toSessionError(thrown);
    }
  }
}

/** Metadata carries visible ASCII only. */
function toHeaderText(name: string, text: string): string {
  if (/^[\x20-\x7e]+$/.test(text)) return text;
  throw new TriviumError(
    "invalidInput",
    `${name} ${JSON.stringify(text)} has characters that metadata cannot carry`,
  );
}

/** What {@link openToolSession} needs. */
export interface OpenToolSessionOptions extends ToolSessionConfig, GrokToolsClientOptions {
  readonly signal?: AbortSignal;
}

/**
 * Opens a session of its own and configures its tools.
 *
 * The session id is random unless one is given. The server ends a session that is idle for long; its state stays.
 *
 * @example
 * ```ts
 * const session = await openToolSession(transport, { tools: ["GrokBuild:read_file"] });
 * const { promptText } = await session.callOrThrow("read_file", { target_file: "README.md" });
 * ```
 *
 * @throws {@link FinalizeConfigError} with all violations.
 */
export async function openToolSession(
  transport: Transport,
  { sessionId, signal, ...config }: OpenToolSessionOptions,
): Promise<ToolSession> {
  const client = new GrokToolsClient(transport, { sessionId: sessionId ?? randomIds.timeOrderedUuid() });
  return await client.finalize(config, signal === undefined ? {} : { signal });
}
