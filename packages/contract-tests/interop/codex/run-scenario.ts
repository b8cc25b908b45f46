import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import type { Scenario } from "./scenarios.ts";
import { type CallOutput, startScriptedModel } from "./scripted-model.ts";

const RUN_MS = 90_000;

/** Runs one conversation of the CLI at `program`; undefined when its model saw what it should, else what differs. */
export async function runScenario(
  scenario: Scenario,
  program: string,
  parameters: readonly string[],
): Promise<string | undefined> {
  await using folder = await temporaryFolder();
  await using model = await startScriptedModel(scenario.turns);
  const [home, settings, workspace] = ["home", "settings", "workspace"].map((name) =>
    join(folder.path, name),
  );
  for (const path of [home, settings, workspace]) await mkdir(path ?? "");
  await writeFile(join(settings ?? "", "config.toml"), configuration(model.url));
  const child = spawn(program, ["exec", "--json", "--skip-git-repo-check", ...parameters, "go on"], {
    cwd: workspace,
    env: { PATH: process.env["PATH"], HOME: home, CODEX_HOME: settings, SCRIPTED_MODEL_KEY: "none" },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: RUN_MS,
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaints = `${complaints}${chunk.toString()}`.slice(-2000);
  });
  const [exitCode] = (await once(child, "close")) as [number | null];
  const seen = model.outputs().map(readable);
  if (exitCode !== 0) return `the CLI ended with ${exitCode}: ${complaints}`;
  const expected = JSON.stringify(scenario.outputs, undefined, 1);
  const told = JSON.stringify(seen, undefined, 1);
  return expected === told ? undefined : `expected ${expected}\nseen ${told}`;
}

/** Nothing but code mode, a model on loopback, and no question to anybody. */
function configuration(modelUrl: string): string {
  return [
    'model = "gpt-5.1-codex"',
    'model_provider = "scripted"',
    'approval_policy = "never"',
    'sandbox_mode = "danger-full-access"',
    "check_for_update_on_startup = false",
    "suppress_unstable_features_warning = true",
    "[model_providers.scripted]",
    'name = "scripted"',
    `base_url = "${modelUrl}"`,
    'wire_api = "responses"',
    'env_key = "SCRIPTED_MODEL_KEY"',
    "request_max_retries = 0",
    "stream_max_retries = 0",
    "[features]",
    "code_mode = true",
    ...["plugins", "remote_plugin", "plugin_sharing", "apps", "skill_search"].map(
      (name) => `${name} = false`,
    ),
    "[analytics]",
    "enabled = false",
    "",
  ].join("\n");
}

/** The name of a call and the texts it gave, times blotted out. */
function readable({ call_id: callId, name, output }: CallOutput): string[] {
  const items: readonly { text?: string; image_url?: string }[] =
    typeof output === "string" ? [{ text: output }] : Array.isArray(output) ? output : [];
  const texts = items.map(({ text, image_url: url }) => text ?? url ?? "");
  return [
    name ?? callId ?? "",
    ...texts.map((text) => text.replace(/Wall time [\d.]+ seconds/, "Wall time T seconds")),
  ];
}
