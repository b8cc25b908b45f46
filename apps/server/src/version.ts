import { createRequire } from "node:module";

const manifest: unknown = createRequire(import.meta.url)("../package.json");

/** Version of this package, as its manifest says. */
export const version: string =
  typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "0.0.0";
