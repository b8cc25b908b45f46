import type { HandlerContext } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import type { CallOptions, ChoiceAsker, GrokToolsRuntime, ToolSession } from "@trivium/grok-tools-runtime";

/** What the service works with. */
export interface GrokToolsServiceDeps {
  readonly runtime: GrokToolsRuntime;
  /** The people of sessions of another service, whom tools can ask. Absent: there are none. */
  readonly openChoiceAsker?: OpenChoiceAsker | undefined;
}

/**
 * Gives who is asked in the session that `trivium-permission-session` names, for the tools of one tool session
 * (undefined: the default one).
 *
 * @throws {@link TriviumError} `notFound` when there is no such session.
 */
export type OpenChoiceAsker = (
  permissionSession: string,
  toolSession: string | undefined,
) => Promise<ChoiceAsker>;

/** The part of a handler's context that all handlers read. */
export type RequestHeaders = Pick<HandlerContext, "requestHeader">;

/** The session a request means: the one named by `x-trivium-session`, else the default session. */
export function sessionOf(
  { runtime }: GrokToolsServiceDeps,
  { requestHeader }: RequestHeaders,
  purpose: "finalize" | "use" = "use",
): ToolSession {
  return runtime.sessions.session(requestHeader.get("x-trivium-session") ?? undefined, purpose);
}

/**
 * Whom the tools of a session ask, when its finalize says so.
 *
 * @throws {@link TriviumError} `notFound` for a session that does not exist.
 */
export async function choiceAskerOf(
  { openChoiceAsker }: GrokToolsServiceDeps,
  { requestHeader }: RequestHeaders,
): Promise<ChoiceAsker | undefined> {
  const named = requestHeader.get("trivium-permission-session");
  if (named === null) return undefined;
  if (openChoiceAsker !== undefined) {
    return await openChoiceAsker(named, requestHeader.get("x-trivium-session") ?? undefined);
  }
  throw new TriviumError("notFound", "this server has no sessions whose people could be asked");
}

/**
 * The options of a call that travel as metadata.
 *
 * @throws {@link TriviumError} `invalidInput` for an unknown value.
 */
export function callOptionsOf({
  requestHeader,
}: RequestHeaders): Pick<CallOptions, "logicalErrors" | "byteBuffers" | "idempotencyKey" | "promptId"> {
  return {
    logicalErrors: switchOf(requestHeader, "x-trivium-logical-errors", ["error", "output"]),
    byteBuffers: switchOf(requestHeader, "x-trivium-output", ["bytes", "text"]),
    idempotencyKey: requestHeader.get("idempotency-key") ?? undefined,
    promptId: requestHeader.get("x-grok-prompt-id") || undefined,
  };
}

function switchOf<Value extends string>(
  headers: Headers,
  name: string,
  values: readonly Value[],
): Value | undefined {
  const text = headers.get(name);
  if (text === null) return undefined;
  const value = values.find((candidate) => candidate === text);
  if (value !== undefined) return value;
  throw new TriviumError(
    "invalidInput",
    `${name} is ${JSON.stringify(text)}; it can be: ${values.join(", ")}`,
  );
}
