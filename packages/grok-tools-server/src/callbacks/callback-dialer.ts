import { type Clock, systemClock } from "@trivium/core";
import type { CallbackDialer } from "@trivium/grok-tools-runtime";
import { type ResolveHost, systemResolver } from "@trivium/grok-tools-runtime/internal";
import { ServiceLink } from "./service-link.ts";

/** Options of {@link createCallbackDialer}. */
export interface CallbackDialerOptions {
  /** Hosts besides this machine that may be called: names or addresses, with or without a port. Default: none. */
  readonly allowHosts?: readonly string[];
  /** Send secrets over `http` to other machines. Default false. */
  readonly allowInsecure?: boolean;
  readonly clock?: Clock;
  /** Default: the resolver of this machine. */
  readonly resolve?: ResolveHost;
  /** Silence after which a connection is probed. Default 15 000. */
  readonly pingIntervalMs?: number;
  /** Time for the answer; then the host counts as gone. Default 10 000. */
  readonly pingTimeoutMs?: number;
}

/** Reaches the callback services of clients over gRPC. Addresses come from clients, so only allowed ones are called. */
export function createCallbackDialer(options: CallbackDialerOptions = {}): CallbackDialer {
  const linkOptions = {
    allowHosts: options.allowHosts ?? [],
    allowInsecure: options.allowInsecure ?? false,
    clock: options.clock ?? systemClock,
    resolve: options.resolve ?? systemResolver,
    pingIntervalMs: options.pingIntervalMs ?? 15_000,
    pingTimeoutMs: options.pingTimeoutMs ?? 10_000,
  };
  return { open: (target) => new ServiceLink(target, linkOptions) };
}
