import { TriviumError } from "@trivium/core";
import type { CallbackDialer } from "./callback-dialer.ts";

const refuse = (): Promise<never> =>
  Promise.reject(new TriviumError("permissionDenied", "this server does not call callback services"));

/** For servers that call no callback services. */
export const noCallbackDialer: CallbackDialer = {
  open: () => ({
    connect: refuse,
    ready: refuse,
    notify: refuse,
    run: refuse,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
};
