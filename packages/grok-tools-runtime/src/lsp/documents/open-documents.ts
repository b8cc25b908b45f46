import type { DocumentSyncWish } from "../server/server-capabilities.ts";
import { wholeChange } from "./document-change.ts";
import { toFileUri } from "./file-uri.ts";

/** Servers keep everything they have open in memory. */
const MAX_OPEN = 64;

interface OpenDocument {
  version: number;
  text: string;
}

/** Where the changes of documents are told. */
export interface DocumentListener {
  readonly sync: DocumentSyncWish;
  notify(method: string, params: object): Promise<void>;
}

/** The documents that one server has open, as it was told of them. Calls must not overlap. */
export class OpenDocuments {
  readonly #server: DocumentListener;
  /** By path; the one used last is the last. */
  readonly #open = new Map<string, OpenDocument>();

  constructor(server: DocumentListener) {
    this.#server = server;
  }

  get paths(): string[] {
    return [...this.#open.keys()];
  }

  /** Version of an open document, from 1. */
  versionOf(path: string): number | undefined {
    return this.#open.get(path)?.version;
  }

  /** Tells the text a file has now. False: the server knew it. */
  async update(path: string, languageId: string, text: string): Promise<boolean> {
    const known = this.#open.get(path);
    if (known !== undefined) {
      this.#open.delete(path);
      this.#open.set(path, known);
      return known.text !== text && (await this.#change(path, known, text));
    }
    this.#open.set(path, { version: 1, text });
    const textDocument = { uri: toFileUri(path), languageId, version: 1, text };
    if (this.#server.sync.openClose) await this.#server.notify("textDocument/didOpen", { textDocument });
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) await this.close(oldest);
    return true;
  }

  /** The file is gone, or not looked at any longer. */
  async close(path: string): Promise<void> {
    if (!this.#open.delete(path) || !this.#server.sync.openClose) return;
    await this.#server.notify("textDocument/didClose", { textDocument: { uri: toFileUri(path) } });
  }

  async #change(path: string, document: OpenDocument, text: string): Promise<true> {
    const { change, save } = this.#server.sync;
    const before = document.text;
    document.text = text;
    document.version += 1;
    const uri = toFileUri(path);
    if (change !== "none") {
      await this.#server.notify("textDocument/didChange", {
        textDocument: { uri, version: document.version },
        contentChanges: [wholeChange(change, before, text)],
      });
    }
    if (save !== undefined) {
      await this.#server.notify("textDocument/didSave", {
        textDocument: { uri },
        ...(save.includeText && { text }),
      });
    }
    return true;
  }
}
