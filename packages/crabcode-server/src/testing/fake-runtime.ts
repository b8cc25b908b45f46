import type { CrabcodeRuntime, SendMessageInput, SubscribeInput } from "@trivium/crabcode-runtime";

/** A runtime whose methods a test replaces one by one; any other call fails. */
export function fakeRuntime(methods: Partial<CrabcodeRuntime>): CrabcodeRuntime {
  const unexpected = (name: string) => () => Promise.reject(new Error(`${name} was not expected`));
  return {
    get sessions(): never {
      throw new Error("sessions were not expected");
    },
    get questions(): never {
      throw new Error("questions were not expected");
    },
    checkpoints: {
      create: unexpected("checkpoints.create"),
      list: unexpected("checkpoints.list"),
      revert: unexpected("checkpoints.revert"),
    },
    isClosing: false,
    sendMessage: unexpected("sendMessage"),
    subscribe: unexpected("subscribe"),
    respondPermission: unexpected("respondPermission"),
    respondChoice: unexpected("respondChoice"),
    listModels: unexpected("listModels"),
    switchModel: unexpected("switchModel"),
    switchMode: unexpected("switchMode"),
    interruptTurn: unexpected("interruptTurn"),
    spawnAgent: unexpected("spawnAgent"),
    getAgent: unexpected("getAgent"),
    listAgents: unexpected("listAgents"),
    cancelAgent: unexpected("cancelAgent"),
    waitAgent: unexpected("waitAgent"),
    sendAgentInput: unexpected("sendAgentInput"),
    openGate: unexpected("openGate"),
    closeSession: unexpected("closeSession"),
    close: unexpected("close"),
    [Symbol.asyncDispose]: unexpected("dispose"),
    ...methods,
  };
}

/**
 * A stream that gives one event, then waits for the signal of its call. `ended` hears the reason from the signal
 * itself: a transport in memory may never ask the stream again.
 */
export function waitingStream(
  { signal }: Pick<SendMessageInput | SubscribeInput, "signal">,
  ended: (reason: unknown) => void,
): AsyncIterable<{ type: string; payloadJson: string }> {
  if (signal === undefined) throw new Error("the call came without a signal");
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  void aborted.then(() => ended(signal.reason));
  return (async function* () {
    yield { type: "stream_mode", payloadJson: '{"type":"stream_mode","mode":"requesting","agent_id":null}' };
    await aborted;
  })();
}
