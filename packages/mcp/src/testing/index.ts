import { fileURLToPath } from "node:url";

export { HttpTestServer } from "./http-server.ts";
export { testImage } from "./test-tools.ts";

/** Program and arguments of the test server that talks over its standard input and output. */
export function testServerCommand(): { readonly command: string; readonly args: readonly string[] } {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const script = fileURLToPath(new URL(`./stdio-server.${extension}`, import.meta.url));
  return { command: process.execPath, args: ["--disable-warning=ExperimentalWarning", script] };
}
