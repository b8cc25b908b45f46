import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { Logger } from "@trivium/core";
import { CrabcodeError, type CrabcodeRuntime } from "@trivium/crabcode-runtime";
import { ErrorInfoSchema } from "@trivium/proto/error-details";
import { toConnectError } from "@trivium/rpc";
import { metadataKeys } from "./metadata.ts";

/** Domain of the reasons of the contract's own service. */
const ERROR_DOMAIN = "crabcode";

/** Domain of the reasons of our own services. */
export const EXTENSION_DOMAIN = "trivium";

/** What each of our own services is made of. The runtime stays its owner's: a service never closes it. */
export interface ExtensionServiceDeps {
  readonly runtime: CrabcodeRuntime;
  /** Gets what clients are not told. Default: nothing is logged. */
  readonly logger?: Logger;
}

type Unary<Request, Response> = (request: Request, context: HandlerContext) => Promise<Response>;
type Streamed<Request, Response> = (request: Request, context: HandlerContext) => AsyncIterable<Response>;

/** A unary handler whose failures leave as statuses with a reason. */
export function unary<Request, Response>(
  logger: Logger,
  handler: Unary<Request, Response>,
  domain: string = ERROR_DOMAIN,
): Unary<Request, Response> {
  return async (request, context) => {
    try {
      return await handler(request, context);
    } catch (thrown) {
      throw reported(thrown, { logger, context, domain });
    }
  };
}

/** A server-streaming handler whose failures, early or late, leave as statuses with a reason. */
export function streamed<Request, Response>(
  logger: Logger,
  handler: Streamed<Request, Response>,
): Streamed<Request, Response> {
  return async function* (request, context) {
    try {
      yield* handler(request, context);
      // A stream that ended because its call did must not look complete.
      context.signal.throwIfAborted();
    } catch (thrown) {
      throw reported(thrown, { logger, context, domain: ERROR_DOMAIN });
    }
  };
}

function reported(
  thrown: unknown,
  {
    logger,
    context,
    domain,
  }: { readonly logger: Logger; readonly context: HandlerContext; readonly domain: string },
): ConnectError {
  const error = toStatus(thrown, { responseHeader: context.responseHeader, domain });
  if (error.code === Code.Internal) {
    logger.error({ error: thrown, method: context.method.name }, "a call failed inside the server");
  }
  return error;
}

/** The status of anything a handler throws, with ErrorInfo and the response keys that are known already. */
function toStatus(
  thrown: unknown,
  { responseHeader, domain }: { readonly responseHeader: Headers; readonly domain: string },
): ConnectError {
  const error = toConnectError(thrown);
  if (!CrabcodeError.isInstance(thrown)) return error;
  const { reason, field, sessionId } = thrown;
  return new ConnectError(
    error.rawMessage,
    error.code,
    // What the headers say already would come twice.
    sessionId === undefined || responseHeader.has(metadataKeys.sessionId)
      ? {}
      : { [metadataKeys.sessionId]: sessionId },
    [
      {
        desc: ErrorInfoSchema,
        value: { reason, domain, metadata: field === undefined ? {} : { field } },
      },
    ],
    thrown,
  );
}
