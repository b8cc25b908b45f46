import { TriviumError } from "@trivium/core";
import {
  type ExecutionOutcome,
  ImageDetail,
  type WaitResponse,
  type ContentItem as WireItem,
} from "@trivium/proto/code-mode";

/** One piece of what a cell emitted. */
export type CellItem =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly url: string; readonly detail?: "auto" | "low" | "high" | "original" }
  | { readonly type: "audio"; readonly url: string };

/** What one observation of a cell brought. */
export interface CellOutcome {
  /** Opaque; names the cell in later calls. */
  readonly cellId: string;
  /** `yielded`: the cell goes on. The others are final. */
  readonly state: "yielded" | "completed" | "terminated";
  /** Output since the observation before, in order. */
  readonly items: readonly CellItem[];
  /** Present, possibly empty, exactly when the program failed. */
  readonly errorText?: string;
  /** Time the host spent on this observation, if it says so. */
  readonly hostDurationMs?: number;
}

/** The answer to a Wait or Terminate. */
export interface CellAnswer {
  /** `missing`: no such cell (any more); the outcome says so in its error text. */
  readonly state: "live" | "missing";
  readonly outcome: CellOutcome;
}

const detailNames = new Map<ImageDetail, "auto" | "low" | "high" | "original">([
  [ImageDetail.AUTO, "auto"],
  [ImageDetail.LOW, "low"],
  [ImageDetail.HIGH, "high"],
  [ImageDetail.ORIGINAL, "original"],
]);

/** @throws {@link TriviumError} `internal` when the host left out what happened. */
export function fromWireOutcome(outcome: ExecutionOutcome): CellOutcome {
  const { cellId, contentItems, codeModeHostDurationNs: durationNs } = outcome;
  const errorText = outcome.outcome.case === "completed" ? outcome.outcome.value.errorText : undefined;
  if (outcome.outcome.case === undefined) {
    throw new TriviumError("internal", `the host sent an outcome of cell ${cellId} that says nothing`);
  }
  return {
    cellId,
    state: outcome.outcome.case,
    items: contentItems.flatMap(fromWireItem),
    ...(errorText !== undefined && { errorText }),
    ...(durationNs !== undefined && { hostDurationMs: Number(durationNs) / 1e6 }),
  };
}

/** @throws {@link TriviumError} `internal` when the host left out the answer. */
export function fromWaitResponse({ state }: WaitResponse): CellAnswer {
  if (state.case === undefined) throw new TriviumError("internal", "the host answered without a cell");
  return { state: state.case === "liveCell" ? "live" : "missing", outcome: fromWireOutcome(state.value) };
}

/** Kinds of items that are newer than this client are left out. */
function fromWireItem({ item }: WireItem): CellItem[] {
  switch (item.case) {
    case "text":
      return [{ type: "text", text: item.value.text }];
    case "image": {
      const detail = item.value.detail === undefined ? undefined : detailNames.get(item.value.detail);
      return [{ type: "image", url: item.value.imageUrl, ...(detail !== undefined && { detail }) }];
    }
    case "audio":
      return [{ type: "audio", url: item.value.audioUrl }];
    case undefined:
      return [];
  }
}
