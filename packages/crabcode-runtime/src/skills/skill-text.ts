import { TriviumError } from "@trivium/core";

const PLACE = "$USER_INPUT";
/** A document may name the input so often that nothing could hold the text. */
const MAX_CHARS = 1024 * 1024;

/**
 * The text of a skill with what the user said in its place; without a place it comes at the end.
 *
 * @throws TriviumError `outOfRange` when that is too long
 */
export function withUserInput(body: string, input: string | undefined): string {
  if (body.includes(PLACE)) return replaced(body, input ?? "");
  return input === undefined || input.trim() === "" ? body : `${body}\n\n${input}`;
}

/**
 * The text of a skill that a message triggered: the message itself is next to it.
 *
 * @throws TriviumError `outOfRange` when that is too long
 */
export function withMessage(body: string, message: string): string {
  return replaced(body, message);
}

function replaced(body: string, input: string): string {
  const parts = body.split(PLACE);
  if (body.length + (parts.length - 1) * input.length > MAX_CHARS) {
    throw new TriviumError("outOfRange", `with this input the skill has more than ${MAX_CHARS} characters`);
  }
  return parts.join(input);
}
