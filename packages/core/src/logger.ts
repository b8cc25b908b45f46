/** Structured values of a log line. Never secrets. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Port for structured logs. The app plugs a real one in; packages never write to the console. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

const ignore = (): void => {};

/** Drops everything. */
export const silentLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  child: () => silentLogger,
};
