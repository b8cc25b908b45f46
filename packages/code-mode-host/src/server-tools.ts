import type { HandlerContext } from "@connectrpc/connect";
import type { ServerTools } from "@trivium/code-mode-runtime";
import { abortReason, TriviumError } from "@trivium/core";

/** Metadata of OpenSession, request and response. */
export const SERVER_TOOLS_HEADER = "trivium-server-tools";

/** What a session asks for when it asks for tools of the server. */
export interface ServerToolsRequest {
  /** Only tools that change nothing. */
  readonly isReadOnly: boolean;
  /** Session of the Grok tools service whose tools, state and folder are used. Absent: the server chooses. */
  readonly toolSession: string | undefined;
  /** CrabCode session that is asked where rules say so. Absent: nobody is asked. */
  readonly permissionSession: string | undefined;
}

/** Port to the tools of this server. */
export interface ServerToolsPort {
  /** True: a session that says nothing has them. */
  readonly isDefault: boolean;
  /**
   * Opens them for one session, which then owns them.
   *
   * @throws {@link TriviumError} `failedPrecondition` for a tool session that has no tools yet, `notFound` for a
   * permission session that does not exist.
   */
  open(request: ServerToolsRequest): Promise<ServerTools>;
}

const meanings = new Map<string, { readonly isReadOnly: boolean } | undefined>([
  ["grok", { isReadOnly: false }],
  ["grok;read-only", { isReadOnly: true }],
  ["none", undefined],
]);

/**
 * The tools of the server that a new session wants, if any. The response then says what is in force; a client that
 * asks can tell by that whether the server knows these tools at all.
 *
 * @throws {@link TriviumError} `invalidInput` for an unknown value, `failedPrecondition` where there are no such tools.
 */
export async function openServerTools(
  port: ServerToolsPort | undefined,
  {
    signal,
    requestHeader,
    responseHeader,
  }: Pick<HandlerContext, "signal" | "requestHeader" | "responseHeader">,
): Promise<ServerTools | undefined> {
  const asked = requestHeader.get(SERVER_TOOLS_HEADER);
  if (asked === null && port?.isDefault !== true) return undefined;
  const value = asked ?? "grok";
  if (!meanings.has(value)) {
    const known = [...meanings.keys()].join(", ");
    throw new TriviumError(
      "invalidInput",
      `${SERVER_TOOLS_HEADER} is ${JSON.stringify(value)}; it can be: ${known}`,
    );
  }
  responseHeader.set(SERVER_TOOLS_HEADER, value);
  const meaning = meanings.get(value);
  if (meaning === undefined) return undefined;
  if (port === undefined) {
    throw new TriviumError("failedPrecondition", "this server has no tools of its own for programs to call");
  }
  const tools = await port.open({
    ...meaning,
    toolSession: requestHeader.get("x-trivium-session") ?? undefined,
    permissionSession: requestHeader.get("trivium-permission-session") ?? undefined,
  });
  if (!signal.aborted) return tools;
  await tools[Symbol.asyncDispose]();
  throw abortReason(signal);
}
