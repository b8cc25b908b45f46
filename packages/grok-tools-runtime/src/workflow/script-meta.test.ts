import { describe, expect, it } from "vitest";
import { readScriptMeta } from "./script-meta.ts";

describe("readScriptMeta", () => {
  it.each([
    [`const meta = { name: "a" };`, { name: "a", description: undefined }],
    [
      `// hi\n/* there */\nconst meta={"name":'it\\'s', description: "x\\ny",};text(1)`,
      { name: "it's", description: "x\ny" },
    ],
    [`text(1)`, { name: undefined, description: undefined }],
    [`text(1); const meta = { name: 3 }`, { name: undefined, description: undefined }],
  ])("reads %j", (source, meta) => {
    expect(readScriptMeta(source)).toEqual(meta);
  });

  it.each([
    [`const meta = load();`, "literal object"],
    [`const meta = { name: "a", more: { x: 1 } };`, "literal object"],
    [`const meta = { name: name };`, "something else"],
    [`const meta = { description: "a" };`, "no name"],
    [`const meta = { name: " " };`, "no name"],
    [`const meta = {};`, "no name"],
  ])("says what is wrong with %j", (source, fault) => {
    expect(readScriptMeta(source)).toEqual({ fault: expect.stringContaining(fault) });
  });
});
