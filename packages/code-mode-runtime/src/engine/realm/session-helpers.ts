import type { Conversions, Helper, ServiceState } from "./realm-types.ts";

/** `store`, `load`, `notify`, `yield_control`, `exit`. Part of the service realm; sent as source text. */
export function createSessionHelpers(
  state: ServiceState,
  conversions: Conversions,
): { readonly helpers: Readonly<Record<string, Helper>>; reset(): void } {
  const { asText, toJson, toText } = conversions;
  const { apply } = Reflect;
  const { stringify } = JSON;
  const blank = /^\p{White_Space}*$/u;
  let writes = new Map<string, string>();
  const NativeMap = Map;

  const toKey = (helper: string, key: unknown): string => {
    try {
      return asText(key).toWellFormed();
    } catch {
      throw `${helper} needs a key that converts to a string`;
    }
  };

  const store = (key: unknown, value: unknown): void => {
    const name = toKey("store", key);
    if (value === undefined) throw `store cannot keep undefined under the key ${stringify(name)}`;
    const json = toJson(value, `store could not serialize the value of the key ${stringify(name)}`);
    const refusal = state.store(name, json);
    if (refusal !== undefined) throw refusal;
    writes.set(name, json);
  };

  const load = (key: unknown): unknown => {
    const name = toKey("load", key);
    const json = writes.get(name) ?? state.readStored(name);
    return json === undefined ? undefined : apply(state.kit.parse, undefined, [json]);
  };

  const notify = (value: unknown): void => {
    const text = toText(value);
    if (blank.test(text)) throw "notify needs a text that is not blank";
    state.send("notify", text);
  };

  const exit = (): void => {
    state.send("exit");
    // The worker ends the isolate when it reads the message; nothing of the program may run until then.
    for (;;);
  };

  return {
    helpers: {
      store: { run: store },
      load: { run: load },
      notify: { run: notify },
      yield_control: { run: () => state.send("yield") },
      exit: { run: exit },
    },
    reset() {
      writes = new NativeMap();
    },
  };
}
