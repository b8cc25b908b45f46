// One file with everything in it: a page that is served from a folder has no package manager.
export default {
  entry: ["src/page/app.ts"],
  outDir: "dist/page",
  format: "esm",
  target: "es2022",
  platform: "browser",
  noExternal: [/.*/],
  minify: true,
  sourcemap: false,
  clean: false,
  dts: false,
};
