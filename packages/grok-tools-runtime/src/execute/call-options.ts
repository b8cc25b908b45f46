import { TriviumError } from "@trivium/core";
import type { JsonObject } from "../json.ts";
import type { ChoiceAsker } from "../questions/choice-asker.ts";
import type { ToolProgress } from "../tool.ts";
import type { ToolKind } from "../tool-kind.ts";

/** How one call is to be carried out. Everything is optional. Contract: ExecutionOptions and the request metadata */
export interface CallOptions {
  /** At most 256 bytes; made up when absent or empty. */
  readonly callId?: string | undefined;
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined;
  /** Time for the whole call, queueing included. 1 to 36 000 000. */
  readonly timeoutMs?: number | undefined;
  /** Runs in the background where the tool can and the input does not say. */
  readonly background?: boolean | undefined;
  readonly outputFormat?: "default" | "concise" | undefined;
  /** For this call only; relative to the session's folder. */
  readonly workingDirectory?: string | undefined;
  readonly includeFields?: readonly string[] | undefined;
  readonly excludeFields?: readonly string[] | undefined;
  /** Default: the server's setting. */
  readonly logicalErrors?: "error" | "output" | undefined;
  /** Default `bytes`. */
  readonly byteBuffers?: "bytes" | "text" | undefined;
  /** A second call with the same key gets the first one's answer. 1 to 128 visible ASCII characters. */
  readonly idempotencyKey?: string | undefined;
  /** Turn of the host's model that asks. */
  readonly promptId?: string | undefined;
  /**
   * Asked before the tool runs; a text that it gives is why the tool may not. The call then fails with
   * PERMISSION_DENIED and `details.reason` `not_authorised`. Default: whoever calls may.
   */
  readonly authorise?: ((request: AuthorisationRequest) => Promise<string | undefined>) | undefined;
  /** Who is asked what the tool asks people. Default: who finalize named, else the session's own list of questions. */
  readonly choiceAsker?: ChoiceAsker | undefined;
  /** Output of the running tool. Called in order; must not throw. */
  readonly onProgress?: ((chunk: ToolProgress) => void) | undefined;
}

/** A call that is about to run, with the tool's own names. */
export interface AuthorisationRequest {
  readonly callId: string;
  /** Aborts when nobody waits for the call any more; the check is to settle then. */
  readonly signal: AbortSignal;
  /** Client name of the tool. */
  readonly toolName: string;
  readonly kind: ToolKind;
  readonly isReadOnly: boolean;
  readonly input: JsonObject;
  readonly workingDirectory: string;
  /** The file a path of the input means: absolute, symbolic links resolved. */
  resolvePath(path: string): Promise<string>;
}

const MAX_TIMEOUT_MS = 36_000_000;
const MAX_CALL_ID_BYTES = 256;

/**
 * Checks what makes a request unusable, before the tool is looked at.
 *
 * @throws {@link TriviumError} `invalidInput` naming the option.
 */
export function checkCallOptions({ callId, timeoutMs, idempotencyKey }: CallOptions): void {
  if (timeoutMs !== undefined && !(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw new TriviumError("invalidInput", `timeout_ms ${timeoutMs} is not from 1 to ${MAX_TIMEOUT_MS}`);
  }
  if (callId !== undefined && new TextEncoder().encode(callId).length > MAX_CALL_ID_BYTES) {
    throw new TriviumError("invalidInput", `call_id is longer than ${MAX_CALL_ID_BYTES} bytes`);
  }
  if (idempotencyKey !== undefined && !/^[\x21-\x7e]{1,128}$/.test(idempotencyKey)) {
    throw new TriviumError("invalidInput", "idempotency-key is not 1 to 128 visible ASCII characters");
  }
}
