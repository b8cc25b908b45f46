import type { Interceptor } from "@connectrpc/connect";

/** For clients: presents `token` with every call that carries no authorization of its own. */
export function bearerTokenInterceptor(token: string): Interceptor {
  return (next) => (request) => {
    if (!request.header.has("authorization")) request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}
