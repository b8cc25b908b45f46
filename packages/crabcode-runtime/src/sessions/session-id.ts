import { CrabcodeError } from "../crabcode-error.ts";

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Whether a session may have that name, which is also the name of its files. */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

/** @throws CrabcodeError SESSION_ID_INVALID */
export function assertSessionId(text: string): void {
  if (isSessionId(text)) return;
  throw new CrabcodeError(
    "SESSION_ID_INVALID",
    "a session id has 1 to 128 letters, digits, dots, dashes or underscores and begins with a letter or digit",
  );
}
