import type { CrabcodeRuntime, SendMessageInput, SubscribeInput } from "@trivium/crabcode-runtime";

/** A runtime whose methods a test replaces one by one; any other call fails. */
export function fakeRuntime(methods: Partial<CrabcodeRuntime>): CrabcodeRuntime {
  const unexpected = (name: string) => () => Promise.reject(new Error(`${name} was not expected`));
  return {
    isClosing: false,
    sendMessage: unexpected("sendMessage"),
    subscribe: unexpected("subscribe"),
    respondPermission: unexpected("respondPermission"),
    respondChoice: unexpected("respondChoice"),
    listModels: unexpected("listModels"),
    switchModel: unexpected("switchModel"),
    switchMode: unexpected("switchMode"),
    interruptTurn: unexpected("interruptTurn"),
    closeSession: unexpected("closeSession"),
    close: unexpected("close"),
    [Symbol.asyncDispose]: unexpected("dispose"),
    ...methods,
  };
}

/** A stream that gives one event, then waits for its signal, and tells how it was left. */
export function waitingStream(
  input: Pick<SendMessageInput | SubscribeInput, "signal">,
  ended: (reason: unknown) => void,
): AsyncIterable<{ type: string; payloadJson: string }> {
  return (async function* () {
    yield { type: "stream_mode", payloadJson: '{"type":"stream_mode","mode":"requesting","agent_id":null}' };
    const { signal } = input;
    if (signal === undefined) throw new Error("the call came without a signal");
    if (!signal.aborted) {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    }
    ended(signal.reason);
  })();
}
