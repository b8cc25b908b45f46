import { fileURLToPath } from "node:url";
import { build } from "vite";
import { describe, expect, it } from "vitest";

const packages = fileURLToPath(new URL("../..", import.meta.url));

/** What a browser is sent of a package: every module that its index leads to, and what they import from elsewhere. */
async function bundle(name: string): Promise<{ modules: readonly string[]; imports: readonly string[] }> {
  const result = await build({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions: ["@trivium/source", "browser", "import", "module", "default"] },
    build: {
      write: false,
      minify: false,
      lib: { entry: `${packages}/${name}/src/index.ts`, formats: ["es"] },
    },
  });
  const [output] = [result].flat();
  if (output === undefined || !("output" in output)) throw new Error("nothing was built");
  const chunks = output.output.filter((file) => file.type === "chunk");
  return {
    modules: chunks.flatMap(({ moduleIds }) => moduleIds),
    imports: chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]),
  };
}

describe.each(["code-mode-client", "grok-tools-client", "crabcode-client"])("%s for browsers", (name) => {
  it("holds nothing of Node", async () => {
    const { modules, imports } = await bundle(name);
    expect(modules.some((module) => module.includes(`/${name}/src/`))).toBe(true);
    expect(modules.filter((module) => /^node:|__vite-browser-external|\/src\/node\//.test(module))).toEqual(
      [],
    );
    expect(imports.filter((module) => module.startsWith("node:"))).toEqual([]);
  });
});
