import { extname } from "node:path";
import type { Logger } from "@trivium/core";
import type { Roots } from "../../files/path-jail.ts";
import type { LspServerConfig } from "../config/lsp-server-config.ts";
import { readReport } from "../diagnostics/diagnostic.ts";
import type { DiagnosticsInbox } from "../diagnostics/diagnostics-inbox.ts";
import { toFileUri } from "../documents/file-uri.ts";
import { OpenDocuments } from "../documents/open-documents.ts";
import { readDocument } from "../documents/read-document.ts";
import type { ServerSession } from "./server-session.ts";

/** What a workspace needs besides its server. */
export interface ServerWorkspaceDeps {
  /** Of the server. */
  readonly name: string;
  readonly config: LspServerConfig;
  readonly roots: Roots;
  readonly inbox: DiagnosticsInbox;
  readonly logger: Logger;
}

/** What a running server knows of the files: it is told their contents as they are on disk. */
export class ServerWorkspace {
  readonly #session: ServerSession;
  readonly #deps: ServerWorkspaceDeps;
  readonly #documents: OpenDocuments;
  readonly #resultIds = new Map<string, string>();
  /** Tells one thing after the other. */
  #queue: Promise<void> = Promise.resolve();

  constructor(session: ServerSession, deps: ServerWorkspaceDeps) {
    this.#session = session;
    this.#deps = deps;
    this.#documents = new OpenDocuments({
      sync: session.capabilities.sync,
      notify: (method, params) => session.notify(method, params),
    });
  }

  /** Files that the server has open. */
  get paths(): string[] {
    return this.#documents.paths;
  }

  versionOf(path: string): number | undefined {
    return this.#documents.versionOf(path);
  }

  /** Opens files or tells how they have changed. Resolves when the server was told; never rejects. */
  update(paths: readonly string[]): Promise<void> {
    this.#queue = this.#queue.then(async () => {
      for (const path of paths) await this.#updateOne(path);
    });
    return this.#queue;
  }

  /** Asks again for the findings in all open files, of a server that wants to be asked. */
  pullAll(): void {
    for (const path of this.paths) void this.#pull(path);
  }

  async #updateOne(path: string): Promise<void> {
    const { name, roots, inbox, logger, config } = this.#deps;
    try {
      const text = await readDocument(path, roots);
      const language = config.extensions[extname(path).toLowerCase()];
      if (text === undefined || language === undefined) {
        await this.#documents.close(path);
        this.#resultIds.delete(path);
        inbox.put({ server: name, kind: "pull" }, path, []);
        return;
      }
      if (!(await this.#documents.update(path, language, text))) inbox.expectNoMore(name, path);
      else void this.#pull(path);
    } catch (cause) {
      inbox.expectNoMore(name, path);
      logger.debug({ server: name, path, cause }, "a language server was not told of a file");
    }
  }

  async #pull(path: string): Promise<void> {
    const { pullDiagnostics } = this.#session.capabilities;
    if (pullDiagnostics === undefined) return;
    const { name, inbox, logger } = this.#deps;
    const version = this.versionOf(path);
    const params = {
      textDocument: { uri: toFileUri(path) },
      identifier: pullDiagnostics.identifier,
      previousResultId: this.#resultIds.get(path),
    };
    try {
      const answer = await this.#session.request("textDocument/diagnostic", params, this.#session.lost);
      // Of an older text; the findings in the newer one were asked for too.
      if (this.versionOf(path) !== version) return;
      const report = readReport(answer);
      if (report?.resultId === undefined) this.#resultIds.delete(path);
      else this.#resultIds.set(path, report.resultId);
      if (report?.diagnostics === undefined) inbox.expectNoMore(name, path);
      else inbox.put({ server: name, kind: "pull" }, path, report.diagnostics);
    } catch (cause) {
      inbox.expectNoMore(name, path);
      logger.debug({ server: name, path, cause }, "a language server did not tell its findings");
    }
  }
}
