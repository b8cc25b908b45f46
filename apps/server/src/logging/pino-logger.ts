import type { LogFields, Logger } from "@trivium/core";
import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";

/** Values of keys like these never reach the log, at the top level or one below. */
const secretKeys = ["token", "authorization", "password", "secret", "apiKey", "api_key", "cookie"];

/** What a log writes and where to. */
export interface PinoLoggerOptions {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly destination: DestinationStream;
}

/** JSON lines with secrets blotted out; errors with their chain of causes. */
export function createPinoLogger({ level, destination }: PinoLoggerOptions): Logger {
  const log = pino(
    {
      level,
      base: null,
      redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`]), censor: "[secret]" },
      serializers: { cause: describeError, error: describeError, err: describeError },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    destination,
  );
  return toLogger(() => log);
}

/** `log` is asked for when something is logged: each call has a child, and most have nothing to say. */
function toLogger(log: () => PinoLogger): Logger {
  return {
    debug: (fields, message) => log().debug(fields, message),
    info: (fields, message) => log().info(fields, message),
    warn: (fields, message) => log().warn(fields, message),
    error: (fields, message) => log().error(fields, message),
    child(fields: LogFields) {
      let child: PinoLogger | undefined;
      return toLogger(() => {
        child ??= log().child(fields);
        return child;
      });
    },
  };
}

function describeError(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  return {
    name: thrown.name,
    message: thrown.message,
    stack: thrown.stack,
    ...(thrown.cause !== undefined && { cause: describeError(thrown.cause) }),
  };
}
