import { extname } from "node:path";
import type { ResourceDefinition, SessionScope, TouchedFile } from "../session-resource.ts";
import { readLspConfig } from "./config/read-lsp-config.ts";
import { DiagnosticsInbox } from "./diagnostics/diagnostics-inbox.ts";
import { renderDiagnostics } from "./diagnostics/render-diagnostics.ts";
import { LanguageServer } from "./server/language-server.ts";

/** The language servers of a session and what they have found. */
export class SessionLsp {
  readonly #scope: SessionScope;
  readonly #inbox: DiagnosticsInbox;
  readonly #toldProblems = new Set<string>();
  #servers: readonly LanguageServer[] = [];

  constructor(scope: SessionScope) {
    this.#scope = scope;
    this.#inbox = new DiagnosticsInbox(scope.clock);
  }

  /** All servers, by name. While none is configured the configuration is looked at again. */
  get servers(): readonly LanguageServer[] {
    if (this.#servers.length === 0) this.#servers = this.#configured();
    return this.#servers;
  }

  /** The server for a file. */
  serverOf(path: string): LanguageServer | undefined {
    const extension = extname(path).toLowerCase();
    return this.servers.find(({ config }) => Object.hasOwn(config.extensions, extension));
  }

  /** Extensions for which there is a server. */
  get extensions(): string[] {
    return [...new Set(this.servers.flatMap(({ config }) => Object.keys(config.extensions)))].sort();
  }

  fileTouched({ access, path }: TouchedFile): void {
    if (access === "write" || access === "delete") this.serverOf(path)?.fileChanged(path);
  }

  /** What the servers have found since the last time, as one text. Starts those that edited files wait for. */
  async takeReminders(): Promise<string[]> {
    for (const server of this.#servers) server.startForEdits();
    await this.#inbox.settled();
    const files = this.#inbox.take();
    return files.length === 0 ? [] : [renderDiagnostics(files, this.#scope.sessionDirectory)];
  }

  /** Ends all servers. */
  async close(): Promise<void> {
    this.#inbox[Symbol.dispose]();
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  #configured(): LanguageServer[] {
    const { settings, sessionDirectory, homeDirectory, logger } = this.#scope;
    const config = readLspConfig({ settings, directory: sessionDirectory, homeDirectory });
    for (const problem of config.problems.filter((text) => !this.#toldProblems.has(text))) {
      this.#toldProblems.add(problem);
      logger.warn({ problem }, "the configuration of a language server is wrong");
    }
    return [...config.servers].map(
      ([name, server]) => new LanguageServer(name, server, { scope: this.#scope, inbox: this.#inbox }),
    );
  }
}

/** The language servers of a session. They are started when they are needed and end with it. */
export const sessionLsp: ResourceDefinition<SessionLsp> = {
  name: "language servers",
  create: (scope) => new SessionLsp(scope),
  dispose: (lsp) => lsp.close(),
  fileTouched: (lsp, file) => lsp.fileTouched(file),
  reminders: (lsp) => lsp.takeReminders(),
};
