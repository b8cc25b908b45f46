import type { Logger } from "@trivium/core";
import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import { readRegularFile } from "../text/read-regular-file.ts";
import { isLayer } from "./merge-settings.ts";

const MAX_FILE_BYTES = 1024 * 1024;

/** A file with one JSON object, comments allowed. One that is not there is undefined, a broken one too, with a warning. */
export function readJsonObject(file: string, logger: Logger): Readonly<Record<string, unknown>> | undefined {
  let text: string | undefined;
  try {
    text = readRegularFile(file, MAX_FILE_BYTES);
  } catch (cause) {
    logger.warn({ file, cause }, "a settings file cannot be read");
  }
  if (text === undefined) return undefined;
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error === undefined && isLayer(value)) return value;
  const problem = error === undefined ? "not an object" : printParseErrorCode(error.error);
  logger.warn({ file, problem }, "a settings file is broken and ignored");
  return undefined;
}
