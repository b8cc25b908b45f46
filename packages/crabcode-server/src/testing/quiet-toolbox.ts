import type { OpenToolbox, ToolboxPort } from "@trivium/crabcode-runtime";

type Unavailable = { readonly kind: "failure"; readonly code: "unavailable"; readonly message: string };

/** A toolbox whose commands succeed without doing anything, or run until they are stopped; it has no files. */
export function quietToolbox(commands: "succeed" | "run forever" = "succeed"): OpenToolbox {
  const unavailable = async (): Promise<Unavailable> => ({
    kind: "failure",
    code: "unavailable",
    message: "there are no files here",
  });
  const toolbox: ToolboxPort = {
    resolvePath: async (path) => path,
    readText: unavailable,
    editText: unavailable,
    writeFile: unavailable,
    search: unavailable,
    findFiles: unavailable,
    exclusively: (_paths, job) => job(),
    async runCommand({ signal, command }) {
      if (commands === "run forever") {
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      }
      return {
        kind: "ok",
        stdout: `ran ${command}`,
        stderr: "",
        exitCode: 0,
        signal: null,
        isTimedOut: false,
        isTruncated: false,
      };
    },
    async [Symbol.asyncDispose]() {},
  };
  return async () => toolbox;
}
