const PLACE = "$USER_INPUT";

/** The text of a skill with what the user said in its place; without a place it comes at the end. */
export function withUserInput(body: string, input: string | undefined): string {
  if (body.includes(PLACE)) return body.replaceAll(PLACE, () => input ?? "");
  return input === undefined || input.trim() === "" ? body : `${body}\n\n${input}`;
}

/** The text of a skill that a message triggered: the message itself is next to it. */
export function withMessage(body: string, message: string): string {
  return body.replaceAll(PLACE, () => message);
}
