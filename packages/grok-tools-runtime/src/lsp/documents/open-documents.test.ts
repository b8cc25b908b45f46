import { expect, it } from "vitest";
import { OpenDocuments } from "./open-documents.ts";

interface Told {
  readonly method: string;
  readonly params: object;
}

function open(): { documents: OpenDocuments; told: Told[] } {
  const told: Told[] = [];
  const documents = new OpenDocuments({
    sync: { openClose: true, change: "incremental", save: { includeText: false } },
    notify: (method, params) => Promise.resolve(void told.push({ method, params })),
  });
  return { documents, told };
}

it("a document that has not changed is not told again", async () => {
  const { documents, told } = open();
  expect(await documents.update("/a", "x", "text")).toBe(true);
  expect(await documents.update("/a", "x", "text")).toBe(false);
  expect(await documents.update("/a", "x", "other")).toBe(true);
  expect(told.map(({ method }) => method)).toEqual([
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didSave",
  ]);
  expect(documents.versionOf("/a")).toBe(2);
});

it("the document that was not used for longest is closed when there are too many", async () => {
  const { documents, told } = open();
  for (let number = 0; number < 64; number++) await documents.update(`/${number}`, "x", "");
  await documents.update("/0", "x", "");
  await documents.update("/new", "x", "");
  expect(told.filter(({ method }) => method === "textDocument/didClose")).toEqual([
    { method: "textDocument/didClose", params: { textDocument: { uri: "file:///1" } } },
  ]);
  expect(documents.paths).toHaveLength(64);
});

it("a closed document is opened anew", async () => {
  const { documents, told } = open();
  await documents.update("/a", "x", "text");
  await documents.close("/a");
  await documents.close("/a");
  await documents.update("/a", "x", "text");
  expect(told.map(({ method }) => method)).toEqual([
    "textDocument/didOpen",
    "textDocument/didClose",
    "textDocument/didOpen",
  ]);
});
