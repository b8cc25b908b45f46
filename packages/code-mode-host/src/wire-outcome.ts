import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { CellAnswer, CellOutcome, CellOutput } from "@trivium/code-mode-runtime";
import {
  type ContentItem,
  ContentItemSchema,
  type ExecutionOutcome,
  ExecutionOutcomeSchema,
  ImageDetail,
  type WaitResponse,
  WaitResponseSchema,
} from "@trivium/proto/code-mode";
import { toNanoseconds } from "./numbers.ts";

type ResultInit = NonNullable<MessageInitShape<typeof ExecutionOutcomeSchema>["outcome"]>;

const wireDetail = {
  auto: ImageDetail.AUTO,
  low: ImageDetail.LOW,
  high: ImageDetail.HIGH,
  original: ImageDetail.ORIGINAL,
};

/** An outcome as ExecutionOutcome. */
export function toWireOutcome(outcome: CellOutcome): ExecutionOutcome {
  return create(ExecutionOutcomeSchema, {
    cellId: outcome.cellId,
    contentItems: outcome.items.map(toWireItem),
    outcome: toWireResult(outcome),
    codeModeHostDurationNs: toNanoseconds(outcome.hostDurationMs),
  });
}

/** The answer to Wait and Terminate. */
export function toWaitResponse({ state, outcome }: CellAnswer): WaitResponse {
  const value = toWireOutcome(outcome);
  return create(WaitResponseSchema, {
    state: state === "live" ? { case: "liveCell", value } : { case: "missingCell", value },
  });
}

function toWireResult({ result }: CellOutcome): ResultInit {
  switch (result.type) {
    case "yielded":
      return { case: "yielded", value: {} };
    case "terminated":
      return { case: "terminated", value: {} };
    case "completed":
      return {
        case: "completed",
        value: result.errorText === undefined ? {} : { errorText: result.errorText },
      };
  }
}

function toWireItem(item: CellOutput): ContentItem {
  switch (item.type) {
    case "text":
      return create(ContentItemSchema, { item: { case: "text", value: { text: item.text } } });
    case "image": {
      const detail = item.detail === undefined ? {} : { detail: wireDetail[item.detail] };
      return create(ContentItemSchema, { item: { case: "image", value: { imageUrl: item.url, ...detail } } });
    }
    case "audio":
      return create(ContentItemSchema, { item: { case: "audio", value: { audioUrl: item.url } } });
  }
}
