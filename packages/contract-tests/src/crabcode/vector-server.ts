import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { type ServerProcess, startServerProcess } from "../server/server-process.ts";

/** A server whose sessions may play scripts, with folders that outlive its process. */
export interface VectorServer extends AsyncDisposable {
  /** Changes with a restart. */
  readonly url: string;
  /** Its one workspace root; every folder in it is trusted. */
  readonly workspace: string;
  /** For scripts and what belongs to them; no session sees it. */
  readonly scripts: string;
  /** What it wrote to standard error so far. */
  log(): string;
  /** Ends the process with the signal and starts another one over the same folders. */
  restart(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Sends SIGTERM; resolves when the process is gone. */
  stop(): Promise<void>;
}

/** Starts one: no keys of providers, an empty home, the script model allowed unless `env` says otherwise. */
export async function startVectorServer(
  env: Readonly<Record<string, string>> = { TRIVIUM_CRABCODE_TESTING: "1" },
  parameters: readonly string[] = [],
): Promise<VectorServer> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const paths = {
    workspace: join(folder.path, "workspace"),
    dataDir: join(folder.path, "data"),
    home: join(folder.path, "home"),
    scripts: join(folder.path, "scripts"),
  };
  for (const path of Object.values(paths)) await mkdir(path);
  const settings = join(paths.home, ".crabcode");
  await mkdir(settings);
  await writeFile(
    join(settings, "settings.json"),
    JSON.stringify({ trusted_directories: [paths.workspace] }),
  );
  const start = (): Promise<ServerProcess> =>
    startServerProcess({
      workspace: paths.workspace,
      dataDir: paths.dataDir,
      parameters,
      env: { HOME: paths.home, ...env },
    });
  let server = await start();
  stack.defer(() => server[Symbol.asyncDispose]());
  const owned = stack.move();
  return {
    get url() {
      return server.url;
    },
    workspace: paths.workspace,
    scripts: paths.scripts,
    log: () => server.log(),
    async restart(signal) {
      await (signal === "SIGKILL" ? server.kill() : server.stop());
      await server[Symbol.asyncDispose]();
      server = await start();
    },
    async stop() {
      await server.stop();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
