/** `npm start`: install, build what is stale, run the combined server in the foreground. */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { environment } from "./run.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

try {
  await install(root);
  await build(root);
} catch (error) {
  console.error(`npm start: ${error.message}`);
  process.exit(1);
}

const workspace = `${root}/workspace`;
mkdirSync(workspace, { recursive: true });
const server = spawn(
  `${root}/node_modules/node/bin/node`,
  ["--disable-warning=ExperimentalWarning", "apps/server/dist/main.js", ...process.argv.slice(2)],
  {
    cwd: root,
    // The channel says nothing; its end tells the server that this process is gone.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: environment(root, { TRIVIUM_DEFAULT_WORKSPACE: workspace }),
  },
);
server.on("error", (error) => {
  console.error(`npm start: the server could not be started: ${error.message}`);
  process.exit(1);
});
// A terminal sends its signals to the server as well; a supervisor sends them only here.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) server.kill(signal);
  });
}
// npm does not pass on the signal that ends it, so its death is noticed.
const npm = process.ppid;
setInterval(() => {
  if (process.ppid !== npm) server.kill("SIGTERM");
}, 500).unref();
server.on("exit", (code, signal) => {
  process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
});
