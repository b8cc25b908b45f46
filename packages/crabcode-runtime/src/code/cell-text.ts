import type { CellObservation, CellOutputItem } from "../ports/code-cells-port.ts";
import type { ToolOutcome } from "../tools/tool.ts";

/** What a model reads of one look at a cell. */
export function cellOutcome(
  cellId: string,
  { state, items, durationMs }: CellObservation,
  notes: readonly string[],
): ToolOutcome {
  const header = `${statusOf(state, cellId)}\nWall time ${(durationMs / 1000).toFixed(1)} seconds\nOutput:\n`;
  const lines = [...notes.map((text) => `[notify] ${text}`), ...items.map(itemText)];
  return { result: header + lines.join("\n"), isError: state === "failed" };
}

/** A cell that is not there, or not any more. */
export function missingCell(cellId: string): ToolOutcome {
  const text = `Script error:\nexec cell ${cellId} not found`;
  return cellOutcome(cellId, { state: "failed", items: [{ type: "text", text }], durationMs: 0 }, []);
}

function statusOf(state: CellObservation["state"], cellId: string): string {
  switch (state) {
    case "running":
      return `Script running with cell ID ${cellId}`;
    case "completed":
      return "Script completed";
    case "terminated":
      return "Script terminated";
    case "failed":
    case "lost":
      return "Script failed";
  }
}

function itemText(item: CellOutputItem): string {
  if (item.type === "text") return item.text;
  const { mimeType, bytes } = describeDataUrl(item.url);
  return `[${item.type} ${mimeType} ${bytes} bytes]`;
}

function describeDataUrl(url: string): { mimeType: string; bytes: number } {
  const comma = url.indexOf(",");
  const [mimeType = "", ...parameters] = url.slice("data:".length, comma).split(";");
  const data = url.slice(comma + 1);
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === "base64");
  return {
    mimeType: mimeType === "" ? "text/plain" : mimeType,
    bytes: isBase64 ? Buffer.byteLength(data, "base64") : data.replace(/%[0-9a-f]{2}/gi, "x").length,
  };
}
