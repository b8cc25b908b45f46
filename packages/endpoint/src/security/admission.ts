import type { OutgoingHttpHeaders } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CorsPolicy } from "../cors/cors-policy.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Connection } from "../listener/connection.ts";
import type { BearerToken } from "./bearer-token.ts";
import type { HostPolicy } from "./host-policy.ts";

/** Whether a request may go on. `headers` belong on its response in every case. */
export type Verdict =
  | { readonly case: "admitted" | "preflight"; readonly headers: OutgoingHttpHeaders }
  | { readonly case: "refused"; readonly headers: OutgoingHttpHeaders; readonly error: ConnectError };

export interface AdmissionDeps {
  readonly cors: CorsPolicy;
  readonly token: BearerToken | undefined;
  /** Paths that need no token. */
  readonly isPublic: (path: string) => boolean;
  readonly compressOnLoopback: boolean;
}

/** The checks every request passes before anything of it is read: Host, Origin, token, in this order. */
export class Admission {
  readonly #deps: AdmissionDeps;
  #hosts: HostPolicy;

  constructor(deps: AdmissionDeps, hosts: HostPolicy) {
    this.#deps = deps;
    this.#hosts = hosts;
  }

  /** The names depend on the address that is listened on. */
  set hosts(hosts: HostPolicy) {
    this.#hosts = hosts;
  }

  isPublic(path: string): boolean {
    return this.#deps.isPublic(path);
  }

  mayCompress(connection: Connection): boolean {
    return !connection.isLoopback || this.#deps.compressOnLoopback;
  }

  judge(exchange: Exchange, request: { path: string; isRpc: boolean }): Verdict {
    const { cors, token } = this.#deps;
    if (!exchange.connection.isPipe && !this.#hosts.accepts(exchange.authority)) {
      return refused({}, `host ${exchange.authority.slice(0, 200)} is not served here; see allowedHosts`);
    }
    const origin = exchange.headers.origin;
    if (typeof origin === "string") {
      const scheme = exchange.connection.isEncrypted ? "https" : "http";
      if (!cors.accepts(origin, `${scheme}://${exchange.authority}`)) {
        return refused({ vary: "origin" }, `origin ${origin.slice(0, 200)} may not call; see allowedOrigins`);
      }
      if (exchange.method === "OPTIONS") return { case: "preflight", headers: cors.preflightHeaders(origin) };
    } else if (request.isRpc && isForeignFetch(exchange)) {
      return refused({}, "another site may not call this method");
    }
    const headers = typeof origin === "string" ? cors.responseHeaders(origin) : {};
    const isKnown = token === undefined || token.accepts(exchange.headers.authorization);
    if (!isKnown && !this.#deps.isPublic(request.path)) {
      const error = new ConnectError("a valid token is needed", Code.Unauthenticated);
      return { case: "refused", headers, error };
    }
    return { case: "admitted", headers };
  }
}

/** A GET that a page of another site makes without asking, as an image for instance, carries no Origin. */
function isForeignFetch(exchange: Exchange): boolean {
  const site = exchange.headers["sec-fetch-site"];
  return exchange.method === "GET" && (site === "cross-site" || site === "same-site");
}

function refused(headers: OutgoingHttpHeaders, message: string): Verdict {
  return { case: "refused", headers, error: new ConnectError(message, Code.PermissionDenied) };
}
