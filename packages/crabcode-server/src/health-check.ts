import { create } from "@bufbuild/protobuf";
import { CrabcodeError, type CrabcodeRuntime } from "@trivium/crabcode-runtime";
import { type HealthCheckResponse, HealthCheckResponseSchema } from "@trivium/proto/crabcode";

/** HealthCheck: `ok` while calls are admitted. Needs no session and no credentials. */
export async function healthCheck(
  runtime: Pick<CrabcodeRuntime, "isClosing">,
  version: string,
): Promise<HealthCheckResponse> {
  if (runtime.isClosing) throw new CrabcodeError("SHUTTING_DOWN", "the server is shutting down");
  return create(HealthCheckResponseSchema, { status: "ok", version });
}
