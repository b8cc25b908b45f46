import { TriviumError } from "@trivium/core";

/** Thrown for a text that is no patch; the message is for the model. */
export class PatchSyntaxError extends TriviumError {
  override readonly name: string = "PatchSyntaxError";

  /** @param lineNumber line in the patch, from 1; undefined: the whole text */
  constructor(message: string, lineNumber?: number) {
    const place = lineNumber === undefined ? "" : `line ${lineNumber}: `;
    super("invalidInput", `Invalid patch: ${place}${message}`);
  }
}
