import { readdirSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fillIn } from "./fill-in.ts";
import { historyFault, readHistory } from "./history.ts";
import { mismatchOf } from "./matcher.ts";
import { type Player, pause, type Stage } from "./player.ts";
import type { AfterCheck } from "./vector.ts";

/** A check that does not hold at once may become true a little later. */
const PATIENCE_MS = 5_000;
const LOOK_AGAIN_MS = 50;

/** What does not hold after a conversation; undefined when the check holds. */
export async function afterFault(check: AfterCheck, player: Player, stage: Stage): Promise<unknown> {
  const start = performance.now();
  for (;;) {
    const fault = await faultOf(check, player, stage).catch((thrown: unknown) => String(thrown));
    if (fault === undefined || performance.now() - start > PATIENCE_MS) return fault && { check, fault };
    await pause(LOOK_AGAIN_MS);
  }
}

async function faultOf(check: AfterCheck, player: Player, stage: Stage): Promise<unknown> {
  const { place, sessionId } = stage;
  if ("rpc" in check) {
    const response = await player.call(check.rpc, check.request);
    return mismatchOf(fillIn(check.match, player.captures), response, player.captures);
  }
  if ("check_file" in check) {
    const content = await readFile(join(place.cwd, check.check_file), "utf8").catch(() => undefined);
    const expected = check.exists === false ? undefined : (check.content ?? content ?? "(a file)");
    return content === expected ? undefined : { content };
  }
  if ("check_mode" in check) {
    const mode = await player.mode();
    return mode === check.check_mode ? undefined : { mode };
  }
  if ("check_model_request" in check) {
    const { contains, not_contains, model } = check;
    const line = await place.modelRequest(check.check_model_request);
    if (line === undefined) return "there is no such request";
    const request = JSON.parse(line) as { model: string; messages: unknown };
    const text = textsOf(request).join("\n");
    if (contains !== undefined && !text.includes(contains)) return { missing: contains, request };
    if (not_contains !== undefined && text.includes(not_contains)) return { unwanted: not_contains, request };
    return model === undefined || model === request.model ? undefined : { request };
  }
  if ("check_history" in check) {
    return historyFault(await readHistory(player.transport, sessionId), check);
  }
  const left = processesIn(place.cwd);
  return left.length === 0 ? undefined : { left };
}

/** Every text in a value, as it reads; in JSON it would be escaped. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

/** Processes that work in the folder. */
function processesIn(cwd: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === cwd;
    } catch {
      // It ended between the listing and the look, or belongs to somebody else.
      return false;
    }
  });
}
