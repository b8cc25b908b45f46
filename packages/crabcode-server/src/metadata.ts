import { CrabcodeError, type SessionSelector } from "@trivium/crabcode-runtime";

/** Names of the metadata of this service, all lower case. */
export const metadataKeys = {
  createSession: "crabcode-create-session",
  cwd: "crabcode-cwd",
  detach: "crabcode-detach",
  interactive: "crabcode-interactive",
  feedback: "crabcode-feedback",
  idempotencyKey: "idempotency-key",
  afterSeq: "trivium-after-seq",
  sessionId: "crabcode-session-id",
  currentModel: "crabcode-current-model",
  operationId: "crabcode-operation-id",
  isReplay: "trivium-idempotent-replay",
} as const;

/** How a call names its session, with the metadata that may create it. */
export function sessionSelector(sessionId: string, header: Headers): SessionSelector {
  if (header.get(metadataKeys.createSession) !== "1") return { sessionId };
  const cwd = decodedHeader(header, metadataKeys.cwd);
  return { sessionId, create: true, ...(cwd !== undefined && { cwd }) };
}

/**
 * A metadata value that may hold any text, percent-encoded as UTF-8.
 *
 * @throws CrabcodeError FIELD_INVALID when the encoding is broken.
 */
export function decodedHeader(header: Headers, key: string): string | undefined {
  const value = header.get(key);
  if (value === null || value === "") return undefined;
  try {
    return decodeURIComponent(value);
  } catch (cause) {
    throw new CrabcodeError("FIELD_INVALID", `the metadata ${key} is not percent-encoded UTF-8`, {
      field: key,
      cause,
    });
  }
}
