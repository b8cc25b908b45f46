import type { Logger } from "@trivium/core";

/** What every part of a server is started with. */
export interface Part {
  /** Owns what a part starts; ends it in the opposite order. */
  readonly stack: AsyncDisposableStack;
  readonly logger: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly dataDir: string;
}
