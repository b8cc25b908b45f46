import { CrabcodeError, type CrabcodeErrorReason } from "../crabcode-error.ts";

/** Reason, kind and field of the refusal a call ends with; fails when there is none. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ reason: CrabcodeErrorReason; kind: string; field: string | undefined }> {
  const thrown: unknown = await call.then(
    () => new Error("the call was not refused"),
    (error: unknown) => error,
  );
  if (!CrabcodeError.isInstance(thrown)) throw thrown;
  const { reason, kind, field } = thrown;
  return { reason, kind, field };
}
