import { expect, it } from "vitest";
import { commandLine } from "./command-line.ts";

it("takes a link by the name of the original code-mode host for that host", () => {
  const parameters = ["--listen", "stdio"];
  expect(commandLine(["node", "/opt/bin/codex-code-mode-host", ...parameters])).toEqual([
    "code-mode-host",
    ...parameters,
  ]);
  expect(commandLine(["node", "/opt/dist/main.js", "doctor"])).toEqual(["doctor"]);
  expect(commandLine(["node"])).toEqual([]);
});
