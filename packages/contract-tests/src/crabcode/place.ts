import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fillIn, writeOut } from "./fill-in.ts";
import type { ConversationSetup, Json, ScriptEntry } from "./vector.ts";

/** The folder of a conversation, its settings and the script its model plays. */
export interface Place {
  readonly cwd: string;
  /** Lets the entries that are held under the name go. */
  release(hold: string): Promise<void>;
  /** The nth request to the model, as text; undefined while there are fewer. */
  modelRequest(n: number): Promise<string | undefined>;
}

/** Makes it. `scripts` is a folder that only this conversation uses. */
export async function makePlace(
  { cwd, scripts }: { readonly cwd: string; readonly scripts: string },
  setup: ConversationSetup,
  script: readonly ScriptEntry[],
): Promise<Place> {
  await mkdir(join(cwd, ".crabcode"), { recursive: true });
  await mkdir(scripts, { recursive: true });
  const path = join(scripts, "script.json");
  // Lone surrogates leave as escapes.
  await writeFile(path, JSON.stringify(writeOut(script)));
  await writeFile(join(cwd, ".crabcode", "settings.json"), JSON.stringify(settingsOf(setup, path)));
  const files = fillIn(setup.files ?? {}, new Map([["CWD", cwd]]));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
  return {
    cwd,
    release: (hold) => writeFile(join(scripts, `${hold}.go`), ""),
    async modelRequest(n) {
      const log = await readFile(`${path}.log.jsonl`, "utf8").catch(() => "");
      return log.split("\n").filter((line) => line !== "")[n - 1];
    },
  };
}

/** Every script profile plays this script; there is one by default. */
function settingsOf({ settings = {}, model }: ConversationSetup, scriptPath: string): Json {
  const profiles = (settings["models"] ?? {}) as Readonly<Record<string, Json>>;
  const isScript = (profile: Json): boolean => profile["provider"] === "script";
  const models = Object.fromEntries(
    Object.entries(profiles).map(([name, profile]) => [
      name,
      isScript(profile) ? { ...profile, script_path: scriptPath, script_log: true } : profile,
    ]),
  );
  if (model === "offline" || Object.values(profiles).some(isScript)) return { ...settings, models };
  const script = { provider: "script", model: "m", script_path: scriptPath, script_log: true };
  return { ...settings, default_model: "script", models: { ...models, script } };
}
