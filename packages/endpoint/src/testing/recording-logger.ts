import type { LogFields, Logger } from "@trivium/core";

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger whose lines can be looked at. */
export function recordingLogger(): Logger & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: LogLine["level"]) =>
    (fields: LogFields, message: string): void =>
      void lines.push({ level, message, fields });
  const logger = {
    lines,
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: () => logger,
  };
  return logger;
}
