import { realpath } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createCellEngine } from "@trivium/code-mode-runtime";
import { createModelCatalogue, settingsFindings } from "@trivium/crabcode-runtime";
import { createCommandRunner, ripgrepVersion } from "@trivium/grok-tools-runtime";
import { agentSources } from "../compose/agent-sources.ts";
import { openDataFolder } from "../compose/data-folder.ts";
import { toModelSettings } from "../compose/model-settings.ts";
import type { ConfigValues } from "../config/config-keys.ts";
import { parseListenAddress } from "../config/listen-address.ts";
import type { Check } from "./check.ts";

/** What the checks look at. */
export interface DoctorSubject {
  readonly values: ConfigValues;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Everything `trivium doctor` looks at, in the order in which it is shown. */
export function doctorChecks({ values, env }: DoctorSubject): Check[] {
  return [
    { name: "node", run: () => nodeVersion() },
    { name: "data folder", run: () => dataFolder(values.dataDir) },
    { name: "port", run: () => port(values.listen) },
    { name: "commands", run: () => commands(values.dataDir) },
    { name: "ripgrep", run: (signal) => ripgrep(values, signal) },
    { name: "cells", run: (signal) => cells(signal) },
    { name: "settings", run: () => settings(values, env) },
    { name: "models", run: () => models(values, env) },
  ];
}

type Finding = Awaited<ReturnType<Check["run"]>>;

async function nodeVersion(): Promise<Finding> {
  const major = Number(process.versions.node.split(".")[0]);
  const detail = `Node ${process.versions.node}`;
  return major >= 26
    ? { status: "ok", detail }
    : { status: "fail", detail: `${detail}; the server needs 26 or newer` };
}

async function dataFolder(path: string): Promise<Finding> {
  using folder = openDataFolder(path);
  return { status: "ok", detail: folder.path };
}

async function port(listen: string): Promise<Finding> {
  const { host, port: wanted } = parseListenAddress(listen);
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(new Error(`${listen} cannot be bound: ${cause.message}`)));
    server.listen(wanted, host, resolve);
  });
  await new Promise((resolve) => server.close(resolve));
  return { status: "ok", detail: `${listen} is free` };
}

async function commands(dataDir: string): Promise<Finding> {
  await using processes = await createCommandRunner({
    dataFolder: join(dataDir, "doctor"),
    warmSupervisors: 0,
  });
  const { summary, subreaper } = await processes.containment();
  return { status: subreaper ? "ok" : "warn", detail: summary };
}

async function ripgrep(values: ConfigValues, signal: AbortSignal): Promise<Finding> {
  await using processes = await createCommandRunner({
    dataFolder: join(values.dataDir, "doctor"),
    warmSupervisors: 0,
  });
  return {
    status: "ok",
    detail: await ripgrepVersion(processes.programs, { rgPath: values["tools.rgPath"], signal }),
  };
}

async function cells(signal: AbortSignal): Promise<Finding> {
  await using engine = createCellEngine({ maxWorkers: 1 });
  const output = await new Promise<string>((resolve, reject) => {
    let text = "";
    signal.addEventListener("abort", () => reject(new Error("a cell did not end")), { once: true });
    engine.start(
      { sessionKey: "doctor", source: "text(6 * 7)", tools: [], stored: new Map() },
      {
        ready() {},
        output: (item) => {
          if (item.type === "text") text += item.text;
        },
        yieldRequested() {},
        stored() {},
        notified() {},
        toolCalled() {},
        ended: (end) =>
          end.type === "completed" ? resolve(text) : reject(new Error(`the cell was ${end.type}`)),
      },
    );
  });
  if (output !== "42") throw new Error(`a cell computed ${output} for 6 * 7`);
  return { status: "ok", detail: "a cell runs in a worker process" };
}

async function settings(values: ConfigValues, env: DoctorSubject["env"]): Promise<Finding> {
  const folder = await realpath(values.workspace);
  const findings = settingsFindings(agentSources(values, { env }).settings, folder);
  if (findings.length === 0) return { status: "ok", detail: `nothing is ignored in ${folder}` };
  return { status: "warn", detail: findings.join("; ") };
}

async function models(values: ConfigValues, env: DoctorSubject["env"]): Promise<Finding> {
  const catalogue = createModelCatalogue({ variables: env, isTesting: values["crabcode.testing"] });
  const settings = toModelSettings(values);
  const active = catalogue.defaultProfile(settings);
  const profiles = catalogue
    .check(settings)
    .map(
      ({ name, description, problem }) =>
        `${name} (${description}${problem === undefined ? "" : `: ${problem}`})`,
    );
  const isWanted = values.defaultModel === undefined || values.defaultModel === active;
  return { status: isWanted ? "ok" : "warn", detail: `${active} is used; there are: ${profiles.join(", ")}` };
}
