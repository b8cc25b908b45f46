import { defineConfig } from "tsup";

// JavaScript only: declarations come from `tsc -b`, since tsup's own need the compiler API that TypeScript 7 lacks.
export default defineConfig({
  format: "esm",
  target: "es2024",
  platform: "neutral",
  sourcemap: true,
  clean: false,
  dts: false,
  // node:sqlite has no name without the prefix.
  removeNodeProtocol: false,
  external: [/^node:/],
});
