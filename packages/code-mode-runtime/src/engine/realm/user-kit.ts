import type { Callable, UserKit } from "./realm-types.ts";

/**
 * Runs once in each fresh user realm, before any user code. It is sent as source text, so it may use nothing but
 * its own body and the globals of the language.
 */
export function createUserKit(): UserKit {
  // Captured before any user code: what a script replaces later takes no part. All are applied with a receiver.
  // oxlint-disable typescript/unbound-method
  const { apply, defineProperty, deleteProperty, ownKeys, setPrototypeOf } = Reflect;
  const functionPrototype = Function.prototype;
  const { bind } = functionPrototype;
  const NativePromise = Promise;
  const { then } = Promise.prototype;
  const { resolve: toPromise } = Promise;
  const mapSize = Object.getOwnPropertyDescriptor(Map.prototype, "size")?.get;
  const { entries: mapEntries } = Map.prototype;

  const { withResolvers, reject } = Promise;
  const { parse } = JSON;
  // oxlint-enable typescript/unbound-method

  for (const name of ["Atomics", "SharedArrayBuffer", "Temporal", "ShadowRealm", "WebAssembly", "console"]) {
    deleteProperty(globalThis, name);
  }
  // The way to `Temporal` without its name.
  deleteProperty(Date.prototype, "toTemporalInstant");

  const wrap = (target: Callable, name: string, length: number): Callable => {
    const wrapped = apply(bind, target, [undefined]);
    // A bound function takes the prototype of its target, which is of the other realm.
    setPrototypeOf(wrapped, functionPrototype);
    const prototype = {};
    defineProperty(prototype, "constructor", { value: wrapped, writable: true, configurable: true });
    defineProperty(wrapped, "name", { value: name, configurable: true });
    defineProperty(wrapped, "length", { value: length, configurable: true });
    defineProperty(wrapped, "prototype", { value: prototype, writable: true });
    defineProperty(target, "prototype", { value: prototype });
    return wrapped;
  };

  const isMap = (value: unknown): boolean => {
    if (mapSize === undefined) return false;
    try {
      apply(mapSize, value, []);
      return true;
    } catch {
      // The getter refuses everything that is not a map.
      return false;
    }
  };

  type Result = { index: unknown; status: string; value?: unknown; reason?: unknown };
  type Node = { result: Result; next: Node | undefined };

  const as_settled = function as_settled(inputs: Iterable<unknown>) {
    let first: Node | undefined;
    let last: Node | undefined;
    let remaining = 0;
    let wake: (() => void) | undefined;
    const deliver = (result: Result): void => {
      const node: Node = { result, next: undefined };
      if (last === undefined) first = node;
      else last.next = node;
      last = node;
      wake?.();
    };
    const subscribe = (index: unknown, input: unknown): void => {
      remaining += 1;
      void apply(then, apply(toPromise, NativePromise, [input]), [
        (value: unknown) => deliver({ index, status: "fulfilled", value }),
        (reason: unknown) => deliver({ index, status: "rejected", reason }),
      ]);
    };
    if (isMap(inputs)) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the brand was checked
      const entries = apply(mapEntries, inputs, []) as Iterable<[unknown, unknown]>;
      for (const entry of entries) subscribe(entry[0], entry[1]);
    } else {
      let position = 0;
      for (const input of inputs) {
        subscribe(position, input);
        position += 1;
      }
    }
    return (async function* results() {
      while (remaining > 0) {
        if (first === undefined) {
          await new NativePromise<void>((resolve) => {
            wake = resolve;
          });
        }
        const node: Node | undefined = first;
        if (node === undefined) continue;
        first = node.next;
        if (first === undefined) last = undefined;
        remaining -= 1;
        yield node.result;
      }
    })();
  };

  const stream_settled = async function stream_settled(
    inputs: Iterable<unknown>,
    callback: (result: unknown) => unknown,
  ) {
    if (typeof callback !== "function") {
      throw new TypeError("stream_settled requires a callback function as its second argument");
    }
    for await (const result of as_settled(inputs)) await callback(result);
  };

  // A bundler may rename functions.
  defineProperty(as_settled, "name", { value: "as_settled", configurable: true });
  defineProperty(stream_settled, "name", { value: "stream_settled", configurable: true });

  const errors: Record<string, Callable> = {};
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the built-in error constructors
  const globals = globalThis as unknown as Record<string, Callable>;
  for (const name of ownKeys(globals)) {
    if (typeof name !== "string" || !(name === "Error" || name.endsWith("Error"))) continue;
    const constructor = globals[name];
    if (constructor !== undefined) defineProperty(errors, name, { value: constructor });
  }

  return {
    wrap,
    install: (name, value) => {
      defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true });
    },
    createObject: () => ({}),
    parse,
    promise: NativePromise,
    withResolvers,
    reject,
    errors,
    bigIntPrototype: BigInt.prototype,
    settledHelpers: { as_settled, stream_settled },
  };
}
