/**
 * A language server for tests, started as a program. It answers from the texts it was sent. `FAKE_LSP` (JSON, see
 * {@link FakeServerOptions}) says how it behaves; what it was told goes to the file `log`, one JSON message a line.
 */
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import {
  createMessageConnection,
  ErrorCodes,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import type { FakeServerOptions } from "./fake-server-options.ts";

interface Change {
  readonly range?: unknown;
  readonly text: string;
}

interface Params {
  readonly textDocument?: { readonly uri: string; readonly version?: number; readonly text?: string };
  readonly contentChanges?: readonly Change[];
  readonly query?: string;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the tests of this folder
const options = JSON.parse(process.env["FAKE_LSP"] ?? "{}") as FakeServerOptions;
const texts = new Map<string, string>();
const port = process.argv.find((argument) => argument.startsWith("--socket="))?.slice("--socket=".length);
const socket = port === undefined ? undefined : connect(Number(port), "127.0.0.1");
const connection = createMessageConnection(
  new StreamMessageReader(socket ?? process.stdin),
  new StreamMessageWriter(socket ?? process.stdout),
);

/** True once for each file: the first server to ask makes it. */
function isFirst(file: string | undefined): boolean {
  if (file === undefined || existsSync(file)) return false;
  writeFileSync(file, "");
  return true;
}

function crash(): never {
  process.stderr.write("the fake server gives up\n");
  return process.exit(3);
}

function log(method: string, params: unknown): void {
  if (options.log !== undefined) appendFileSync(options.log, `${JSON.stringify({ method, params })}\n`);
}

const zero = { line: 0, character: 0 };
const range = { start: { line: 2, character: 4 }, end: { line: 2, character: 9 } };

/** Each line with the word `wrong` is an error, with `odd` a warning, with `hint` a hint. */
function findingsIn(text: string): object[] {
  const severities = { wrong: 1, odd: 2, hint: 4 };
  return text.split("\n").flatMap((line, index) => {
    const found = Object.entries(severities).find(([word]) => line.includes(word));
    if (found === undefined) return [];
    const start = { line: index, character: 0 };
    return [{ range: { start, end: start }, severity: found[1], message: line }];
  });
}

function publish(uri: string, version: number | undefined): void {
  if (options.push !== true) return;
  const diagnostics = findingsIn(texts.get(uri) ?? "");
  void connection.sendNotification("textDocument/publishDiagnostics", { uri, version, diagnostics });
}

async function initialize(): Promise<object> {
  if (options.start === "crash" || (options.start === "crash-once" && isFirst(options.crashFile))) crash();
  if (options.start === "hang") await new Promise(() => setInterval(() => {}, 60_000));
  if (options.start === "refuse") throw new ResponseError(ErrorCodes.InternalError, "no licence");
  return {
    capabilities: {
      textDocumentSync: options.sync ?? 1,
      definitionProvider: true,
      implementationProvider: true,
      referencesProvider: {},
      hoverProvider: true,
      documentSymbolProvider: true,
      workspaceSymbolProvider: true,
      ...(options.pull === true && {
        diagnosticProvider: { identifier: "fake", interFileDependencies: false, workspaceDiagnostics: false },
      }),
      ...options.capabilities,
    },
  };
}

async function answer(method: string, { textDocument, query }: Params): Promise<unknown> {
  const uri = textDocument?.uri ?? "";
  const text = texts.get(uri) ?? "";
  if (text.includes("CRASH ONCE") && isFirst(options.crashFile)) crash();
  if (text.includes("CRASH ALWAYS")) crash();
  if (text.includes("HANG")) await new Promise(() => {});
  if (text.includes("REFUSE")) throw new ResponseError(ErrorCodes.InternalError, "cannot do that");
  if (text.startsWith("ANSWER ")) return JSON.parse(text.slice("ANSWER ".length));
  switch (method) {
    case "textDocument/definition":
      return { uri, range };
    case "textDocument/implementation":
      return [{ targetUri: uri, targetRange: range, targetSelectionRange: range }];
    case "textDocument/references":
      return [
        { uri, range },
        { uri, range: { start: zero, end: zero } },
      ];
    case "textDocument/hover":
      return { contents: { kind: "markdown", value: text } };
    case "workspace/symbol":
      return [{ name: query, kind: 12, location: { uri: "file:///elsewhere/a%20b.fake", range } }];
    case "textDocument/diagnostic":
      return { kind: "full", items: findingsIn(text), resultId: String(text.length) };
    default:
      return null;
  }
}

connection.onRequest(async (method, params) => {
  log(method, params);
  if (method === "initialize") return await initialize();
  if (method === "shutdown" && options.shutdown === "hang") await new Promise(() => {});
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client under test sends them
  return await answer(method, (params ?? {}) as Params);
});

connection.onNotification((method, params) => {
  log(method, params);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  const { textDocument, contentChanges } = (params ?? {}) as Params;
  if (method === "exit") process.exit(0);
  if (method === "initialized" && options.configuration !== undefined) {
    void connection
      .sendRequest("workspace/configuration", {
        items: options.configuration.map((section) => ({ section })),
      })
      .then((found) => log("configuration", found));
  }
  if (textDocument === undefined) return;
  const { uri, version, text } = textDocument;
  if (method === "textDocument/didClose") texts.delete(uri);
  if (method !== "textDocument/didOpen" && method !== "textDocument/didChange") return;
  texts.set(uri, text ?? contentChanges?.at(-1)?.text ?? "");
  publish(uri, version);
});

if (options.garbage === true) process.stdout.write("this is no server\n".repeat(10_000));
if (options.shutdown === "hang") process.on("SIGTERM", () => {});
connection.listen();
