import { Code, type Interceptor, type StreamResponse, type UnaryResponse } from "@connectrpc/connect";
import { toConnectError } from "@trivium/rpc";

/**
 * The outermost interceptor: whatever a handler throws, at once or while streaming, becomes a status.
 *
 * @param onSwallowed called with errors of handlers whose call is over: nobody else will ever see them
 */
export function statusInterceptor(onSwallowed: (path: string, thrown: unknown) => void): Interceptor {
  return (next) => async (request) => {
    const toStatus = (thrown: unknown): unknown => {
      const error = toConnectError(thrown);
      // Handlers that only pass on why they were stopped have not failed.
      if (request.signal.aborted && error.code === Code.Internal) {
        onSwallowed(`/${request.service.typeName}/${request.method.name}`, thrown);
      }
      return error;
    };
    let response: UnaryResponse | StreamResponse;
    try {
      response = await next(request);
    } catch (thrown) {
      throw toStatus(thrown);
    }
    return response.stream ? { ...response, message: mapped(response.message, toStatus) } : response;
  };
}

/** Also sees what a generator throws when it is told to return. No generator itself: it is in the path of every message. */
function mapped<Message>(
  messages: AsyncIterable<Message>,
  toStatus: (thrown: unknown) => unknown,
): AsyncIterable<Message> {
  const fail = (thrown: unknown): never => {
    throw toStatus(thrown);
  };
  return {
    [Symbol.asyncIterator]() {
      const iterator = messages[Symbol.asyncIterator]();
      return {
        next: () => iterator.next().catch(fail),
        return: async (value) => (await iterator.return?.(value).catch(fail)) ?? { done: true, value },
      };
    },
  };
}
