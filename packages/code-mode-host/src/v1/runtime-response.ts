import type { CellAnswer, CellOutcome, CellOutput } from "@trivium/code-mode-runtime";
import { toNanoseconds } from "../numbers.ts";

/** An outcome in the form of the protocol: `Yielded`, `Terminated` or `Result`. */
export function toRuntimeResponse(outcome: CellOutcome): object {
  const common = {
    cell_id: outcome.cellId,
    content_items: outcome.items.map(toContentItem),
    code_mode_host_duration_ns: nanoseconds(outcome.hostDurationMs),
  };
  switch (outcome.result.type) {
    case "yielded":
      return { Yielded: common };
    case "terminated":
      return { Terminated: common };
    case "completed":
      return {
        Result: {
          ...common,
          error_text: outcome.result.errorText?.toWellFormed() ?? null,
          result_buffered_for_ns: nanoseconds(outcome.bufferedForMs ?? 0),
        },
      };
  }
}

/** The answer to a wait or a termination. */
export function toWaitOutcome({ state, outcome }: CellAnswer): object {
  const response = toRuntimeResponse(outcome);
  return state === "live" ? { LiveCell: response } : { MissingCell: response };
}

function toContentItem(item: CellOutput): object {
  switch (item.type) {
    case "text":
      return { type: "input_text", text: item.text.toWellFormed() };
    case "image":
      return {
        type: "input_image",
        image_url: item.url.toWellFormed(),
        ...(item.detail !== undefined && { detail: item.detail }),
      };
    case "audio":
      return { type: "input_audio", audio_url: item.url.toWellFormed() };
  }
}

function nanoseconds(timeMs: number): number {
  return Number(toNanoseconds(timeMs));
}
