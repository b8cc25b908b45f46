import { readFileSync, statSync } from "node:fs";
import type { ConnectRouter } from "@connectrpc/connect";
import { codeModeMethodLimits, codeModeService } from "@trivium/code-mode-host";
import { type Logger, silentLogger, TriviumError } from "@trivium/core";
import {
  agentService,
  checkpointService,
  crabcodeMethodLimits,
  questionService as crabcodeQuestionService,
  crabcodeService,
  sessionService,
} from "@trivium/crabcode-server";
import { createEndpoint, type TlsOptions } from "@trivium/endpoint";
import { type GrokToolsServiceDeps, grokToolsService, questionService } from "@trivium/grok-tools-server";
import { ConfigError } from "../config/config-error.ts";
import type { ConfigValues } from "../config/config-keys.ts";
import { parseListenAddress } from "../config/listen-address.ts";
import { version } from "../version.ts";
import { allowedHosts } from "./allowed-hosts.ts";
import { startCodeMode } from "./code-mode-part.ts";
import { startCrabcode } from "./crabcode-part.ts";
import { dashboardRoutes } from "./dashboard-routes.ts";
import { openDataFolder } from "./data-folder.ts";
import { registerMetrics } from "./metrics.ts";
import type { Part } from "./part.ts";
import { noConversations, type OpenGate, toChoiceAsker } from "./permission-session.ts";
import { createServerTools } from "./server-tools/create-server-tools.ts";
import { statusPage } from "./status-page.ts";
import { startTools } from "./tools-part.ts";

/** What a server takes from its surroundings. */
export interface ServerSurroundings {
  /** Environment: keys of model providers, and what commands inherit by policy. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: nothing is logged. */
  readonly logger?: Logger;
}

/** A running server. Disposing it drains, then ends everything it started. */
export interface RunningServer extends AsyncDisposable {
  /** `http://HOST:PORT`, `https://` with TLS. */
  readonly url: string;
  readonly port: number;
  /** Facts for people: which layers contain commands. */
  readonly containment: string | undefined;
}

/** Part of the drain that is left for turns to be interrupted and their last events to be sent. */
const WIND_DOWN_MS = 1_000;

/**
 * Starts the configured services on one port. Nothing is left when it fails.
 *
 * @throws {@link ConfigError} for settings that do not fit together; {@link TriviumError} when the data folder is in
 * use; what Node reports for an address that cannot be bound.
 */
export async function startServer(
  values: ConfigValues,
  surroundings: ServerSurroundings,
): Promise<RunningServer> {
  const { host, port, isLoopback } = parseListenAddress(values.listen);
  const tls = readTls(values);
  if (!isLoopback && values.token === undefined) {
    throw new ConfigError(
      `listen is ${values.listen}, which others can reach, and there is no token: set TRIVIUM_TOKEN, or listen on 127.0.0.1`,
    );
  }
  assertWorkspace(values.workspace);
  const { env, logger = silentLogger } = surroundings;
  await using stack = new AsyncDisposableStack();
  const dataDir = stack.use(openDataFolder(values.dataDir)).path;
  const part: Part = { stack, logger, env: withoutOwnVariables(env), dataDir };
  const wanted = new Set(values.services);
  const hasServerTools = wanted.has("code-mode") && values["codeMode.serverTools"].includes("grok");
  const needsTools = wanted.has("grok-tools") || wanted.has("crabcode") || hasServerTools;
  const codeMode = wanted.has("code-mode") ? startCodeMode(values, part) : undefined;
  const tools = needsTools ? await startTools(values, part, codeMode) : undefined;
  const crabcode =
    tools !== undefined && wanted.has("crabcode")
      ? startCrabcode(values, part, { tools, codeMode })
      : undefined;
  const openGate: OpenGate = crabcode === undefined ? noConversations : (id) => crabcode.openGate(id);
  const services: ((router: ConnectRouter) => void)[] = [];
  if (tools !== undefined && wanted.has("grok-tools")) {
    const { runtime } = tools;
    const openChoiceAsker: GrokToolsServiceDeps["openChoiceAsker"] = async (conversation, toolSession = "") =>
      toChoiceAsker(await openGate(conversation), toolSession);
    services.push(grokToolsService({ runtime, openChoiceAsker }), questionService({ runtime }));
  }
  if (codeMode !== undefined) {
    const serverTools =
      tools &&
      createServerTools({
        runtime: tools.runtime,
        dataDir,
        isDefault: hasServerTools,
        rules: values["codeMode.serverToolRules"],
        openGate,
      });
    const maxRequests = values["codeMode.maxRequests"];
    services.push(codeModeService({ runtime: codeMode.runtime, maxRequests, serverTools }));
  }
  if (crabcode !== undefined) {
    services.push(
      crabcodeService({ runtime: crabcode, version, logger: logger.child({ part: "crabcode-server" }) }),
      agentService({ runtime: crabcode, logger: logger.child({ part: "crabcode-server" }) }),
      checkpointService({ runtime: crabcode, logger: logger.child({ part: "crabcode-server" }) }),
      sessionService({ runtime: crabcode, logger: logger.child({ part: "crabcode-server" }) }),
      crabcodeQuestionService({ runtime: crabcode, logger: logger.child({ part: "crabcode-server" }) }),
    );
  }
  const endpoint = createEndpoint({
    services,
    limits: {
      readMaxBytes: values["limits.requestBytes"],
      connectionRequestBytes: values["limits.connectionBytes"],
      totalRequestBytes: values["limits.totalBytes"],
      maxHeaderBytes: values["limits.headerBytes"],
      maxStreamsPerConnection: values["limits.streamsPerConnection"],
    },
    methodLimits: { ...codeModeMethodLimits, ...crabcodeMethodLimits },
    auth: { token: values.token, publicMethods: ["crabcode.CrabCodeService/HealthCheck"] },
    tls,
    routes: (crabcode !== undefined && dashboardRoutes()) || [statusPage(values.services)],
    allowedOrigins: values.allowedOrigins,
    exposeHeaders: ["codex-code-mode-result-buffered-for-ns", "trivium-server-tools"],
    allowedHosts: allowedHosts(values.allowedHosts, { host, isLoopback }),
    logger: logger.child({ part: "endpoint" }),
  });
  stack.defer(async () => {
    const drainMs = values["limits.drainMs"];
    // Leases and subscriptions end only when their runtimes say so, hence all at once: leases now, turns in time.
    await Promise.all([
      endpoint.drain(drainMs),
      codeMode?.runtime[Symbol.asyncDispose](),
      crabcode?.close({ drainMs: Math.max(0, drainMs - WIND_DOWN_MS) }),
    ]);
  });
  stack.use(registerMetrics(endpoint.metrics, { tools, codeMode }));
  const containment = tools === undefined ? undefined : (await tools.processes.containment()).summary;
  const { url, port: bound } = await endpoint.listen({ host, port }).catch((cause: unknown) => {
    throw listenError(values.listen, cause);
  });
  const owned = stack.move();
  return { url, port: bound, containment, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function assertWorkspace(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new ConfigError(`workspace is ${path}, which is no folder: make it, or name another one`);
}

/** What the system says of an address, with what to do about it. */
function listenError(listen: string, cause: unknown): unknown {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const remedies: Readonly<Record<string, string>> = {
    EADDRINUSE: "another program listens there; stop it, or set listen to another port",
    EADDRNOTAVAIL: "this machine has no such address",
    EACCES: "ports below 1024 need special rights; set listen to a higher one",
  };
  const remedy = typeof code === "string" ? remedies[code] : undefined;
  return remedy === undefined
    ? cause
    : new TriviumError("unavailable", `cannot listen on ${listen}: ${remedy}`, { cause });
}

function readTls(values: ConfigValues): TlsOptions | undefined {
  const { "tls.cert": cert, "tls.key": key, "tls.clientCa": clientCa } = values;
  if (cert === undefined && key === undefined) {
    if (clientCa !== undefined) throw new ConfigError("tls.clientCa needs tls.cert and tls.key");
    return undefined;
  }
  if (cert === undefined || key === undefined)
    throw new ConfigError("tls.cert and tls.key belong together; one is missing");
  return {
    cert: readPem("tls.cert", cert),
    key: readPem("tls.key", key),
    ...(clientCa !== undefined && { clientCa: readPem("tls.clientCa", clientCa) }),
  };
}

function readPem(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new ConfigError(`${name} names ${path}, which cannot be read`, { cause });
  }
}

/** The server's own settings, its token among them, are nothing for commands or models. */
function withoutOwnVariables(env: ServerSurroundings["env"]): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("TRIVIUM_")));
}
