import { TriviumError } from "@trivium/core";

/** A setting that cannot be used. The message says which one, from where, and what would be right. */
export class ConfigError extends TriviumError {
  override readonly name: string = "ConfigError";

  constructor(message: string, options?: ErrorOptions) {
    super("invalidInput", message, options);
  }
}
