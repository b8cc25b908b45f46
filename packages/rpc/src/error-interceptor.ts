import type { Interceptor, StreamResponse, UnaryResponse } from "@connectrpc/connect";
import { toConnectError } from "./to-connect-error.ts";

/** For servers: whatever a handler throws, at once or while streaming, leaves as a status. See {@link toConnectError}. */
export const errorInterceptor: Interceptor = (next) => async (request) => {
  let response: UnaryResponse | StreamResponse;
  try {
    response = await next(request);
  } catch (thrown) {
    throw toConnectError(thrown);
  }
  if (!response.stream) return response;
  return { ...response, message: withStatus(response.message) };
};

async function* withStatus<Message>(messages: AsyncIterable<Message>): AsyncIterable<Message> {
  try {
    yield* messages;
  } catch (thrown) {
    throw toConnectError(thrown);
  }
}
