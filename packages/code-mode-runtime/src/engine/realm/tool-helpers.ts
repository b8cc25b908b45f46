import type { Callable, CellSetup, Conversions, ServiceState } from "./realm-types.ts";

/** `tools` and `ALL_TOOLS`. Part of the service realm; sent as source text. */
export function createToolHelpers(
  state: ServiceState,
  conversions: Conversions,
): {
  /** Makes the globals of a cell. `protect` puts the border around each function. */
  install(setup: CellSetup, protect: (run: (input: unknown) => unknown) => Callable): void;
  resolve(callNumber: number, json: string): void;
  reject(callNumber: number, message: string): void;
  reset(): void;
} {
  const { apply, defineProperty } = Reflect;
  const { stringify } = JSON;
  const NativeMap = Map;
  type Pending = { promise: unknown; resolve: (value: unknown) => void; reject: (reason: unknown) => void };
  let pending = new Map<number, Pending>();
  let lastCallNumber = 0;

  const call = (toolIndex: number, name: string, input: unknown): unknown => {
    const json =
      input === undefined
        ? undefined
        : conversions.toJson(input, `the argument of tools.${name} could not be serialized`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the captured Promise.withResolvers
    const settle = apply(state.kit.withResolvers, state.kit.promise, []) as Pending;
    lastCallNumber += 1;
    pending.set(lastCallNumber, settle);
    state.send("tool", lastCallNumber, toolIndex, json);
    return settle.promise;
  };

  const take = (callNumber: number): Pending | undefined => {
    const settle = pending.get(callNumber);
    pending.delete(callNumber);
    return settle;
  };

  return {
    install(setup, protect) {
      const { kit } = state;
      const tools = kit.createObject();
      for (let index = 0; index < setup.tools.length; index += 1) {
        const name = setup.tools[index]?.name ?? "_";
        const value = kit.wrap(
          protect((input) => call(index, name, input)),
          "",
          0,
        );
        defineProperty(tools, name, { value, writable: true, enumerable: true, configurable: true });
      }
      kit.install("tools", tools);
      kit.install("ALL_TOOLS", apply(kit.parse, undefined, [stringify(setup.tools)]));
    },
    resolve(callNumber, json) {
      const settle = take(callNumber);
      if (settle === undefined) return;
      let value: unknown;
      try {
        value = apply(state.kit.parse, undefined, [json]);
      } catch (thrown) {
        settle.reject(conversions.toErrorText(conversions.rebuild(thrown)));
        return;
      }
      settle.resolve(value);
    },
    reject(callNumber, message) {
      take(callNumber)?.reject(message);
    },
    reset() {
      pending = new NativeMap();
      lastCallNumber = 0;
    },
  };
}
