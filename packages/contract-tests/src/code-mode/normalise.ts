import type { Expectation, Vector } from "./vector.ts";

const uuids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const fixedUuid = "00000000-0000-4000-8000-000000000000";
const MARKER = "[Code Mode";

interface Cell {
  execute?: Record<string, unknown> & {
    content?: { text?: string; image_url?: string; audio_url?: string }[];
  };
  tool_calls?: unknown[];
  tool_calls_count?: number;
}

/** What a replay saw, reduced in the way of the recordings: no random ids, no long texts where lengths say enough. */
export function normalise(seen: Expectation, vector: Vector): Expectation {
  const plain = withoutIds(seen) as Expectation;
  if (vector.summarize === true) for (const cell of (plain["cells"] ?? []) as Cell[]) summarise(cell);
  return vector.summarize_last === true ? onlyLast(plain) : plain;
}

function withoutIds(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(uuids, (id) => (id === fixedUuid ? id : "<uuid>"));
  if (Array.isArray(value)) return value.map(withoutIds);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "codeModeHostDurationNs");
  return Object.fromEntries(entries.map(([key, one]) => [key, withoutIds(one)]));
}

function summarise(cell: Cell): void {
  const { execute } = cell;
  const content = execute?.content;
  if (execute !== undefined && content !== undefined) {
    const lengths = content.map((item) => (item.text ?? item.image_url ?? item.audio_url ?? "").length);
    const marker = content.find((item) => item.text?.startsWith(MARKER) === true);
    execute["content_count"] = content.length;
    if (lengths.length <= 10) execute["content_lengths"] = lengths;
    if (marker !== undefined) execute["marker"] = marker.text;
    const short = content.filter((item) => item.text !== undefined && item.text.length < 300).slice(0, 5);
    const isUniform = content.length > 50 && short.every((item) => item.text === short[0]?.text);
    execute.content = isUniform ? short.slice(0, 1) : short;
  }
  if (cell.tool_calls !== undefined && cell.tool_calls.length > 20) {
    cell.tool_calls_count = cell.tool_calls.length;
    delete cell.tool_calls;
  }
}

function onlyLast(plain: Expectation): Expectation {
  const results = (plain["ops"] ?? []) as (Record<string, unknown> | null)[];
  const areGood = results
    .slice(0, -1)
    .every((one) => one === null || one["subscribed"] === true || one["opened"] === true);
  return { ops_all_but_last_ok: areGood, last: results.at(-1) };
}
