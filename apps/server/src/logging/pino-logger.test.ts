import { describe, expect, it } from "vitest";
import { createPinoLogger } from "./pino-logger.ts";

describe("createPinoLogger", () => {
  it("writes one JSON object a line, without secrets", () => {
    const { lines, destination } = memory();
    const logger = createPinoLogger({ level: "info", destination }).child({ callId: "c1" });
    logger.info({ token: "t0p", headers: { authorization: "Bearer t0p" }, port: 1 }, "listening");
    logger.debug({}, "not shown");
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      level: "info",
      msg: "listening",
      callId: "c1",
      port: 1,
      token: "[secret]",
      headers: { authorization: "[secret]" },
    });
  });

  it("writes an error with its causes", () => {
    const { lines, destination } = memory();
    const cause = new Error("above", { cause: new Error("below") });
    createPinoLogger({ level: "error", destination }).error({ cause }, "failed");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      cause: { message: "above", cause: { message: "below" } },
    });
  });
});

function memory() {
  const lines: string[] = [];
  return { lines, destination: { write: (line: string) => void lines.push(line) } };
}
