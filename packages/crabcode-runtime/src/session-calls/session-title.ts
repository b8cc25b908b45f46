import { CrabcodeError } from "../crabcode-error.ts";
import { characterCount } from "../text/first-characters.ts";

const MAX_TITLE_CHARS = 200;
const CONTROL = /\p{Cc}/u;

/**
 * A title as it is stored: without white space around it. It may be empty.
 *
 * @throws CrabcodeError FIELD_INVALID
 */
export function checkedTitle(title: string): string {
  const trimmed = title.trim().toWellFormed();
  if (CONTROL.test(trimmed)) throw invalid("title has control characters");
  if (characterCount(trimmed) > MAX_TITLE_CHARS) {
    throw invalid(`title has more than ${MAX_TITLE_CHARS} characters`);
  }
  return trimmed;
}

/** @throws CrabcodeError FIELD_INVALID */
export function requiredTitle(title: string): string {
  const checked = checkedTitle(title);
  if (checked === "") throw invalid("title is blank");
  return checked;
}

function invalid(message: string): CrabcodeError {
  return new CrabcodeError("FIELD_INVALID", message, { field: "title" });
}
