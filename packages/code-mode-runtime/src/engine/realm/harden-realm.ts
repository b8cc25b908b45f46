/**
 * Makes the intrinsics of the service realm worthless to whoever gets hold of one: prototypes and their methods are
 * frozen, and prototypes lose the `constructor` links that lead to `Function`. The language itself can hand out a
 * prototype of the realm of a bound function's target (`Reflect.construct(Object, [], text.bind())`), and so can a
 * stack overflow at the right depth.
 *
 * Runs last, when the helpers have what they need of the globals; sent as source text.
 */
export function hardenRealm(spared: object): void {
  const { deleteProperty, get, getPrototypeOf, ownKeys } = Reflect;
  const { freeze } = Object;
  const realmGlobal = globalThis;
  const seen = new Set<object>([realmGlobal]);
  const visit = (value: unknown): void => {
    if ((typeof value !== "object" || value === null) && typeof value !== "function") return;
    if (seen.has(value)) return;
    seen.add(value);
    visit(getPrototypeOf(value));
  };
  const visitPrototypes = (holder: object): void => {
    for (const name of ownKeys(holder)) {
      const value: unknown = get(holder, name);
      if (typeof value === "function") visit(value.prototype);
    }
  };
  // Programs have no constructors of these to ask with, and looking at them would only make them.
  for (const name of ["Temporal", "WebAssembly", "SharedArrayBuffer", "Atomics", "console"]) {
    deleteProperty(realmGlobal, name);
  }
  deleteProperty(Date.prototype, "toTemporalInstant");
  visitPrototypes(realmGlobal);
  visitPrototypes(Intl);
  visit(getPrototypeOf(visit));
  for (const syntactic of [function* () {}, async function* () {}, async () => {}]) {
    const prototype = getPrototypeOf(syntactic);
    visit(prototype);
    if (prototype !== null) visit(get(prototype, "prototype"));
  }
  for (const iterator of [[].values(), new Map().entries(), new Set().values(), ""[Symbol.iterator]()]) {
    visit(getPrototypeOf(iterator));
  }
  visit(getPrototypeOf("".matchAll(/x/g)));
  // A method would otherwise carry what one program attaches to it to the next.
  // Property descriptors and lists would be a quarter of a megabyte of garbage, which every waiting program then holds.
  type LookUp = (holder: object, key: PropertyKey) => unknown;
  const lookUp = (name: "__lookupGetter__" | "__lookupSetter__"): LookUp =>
    Function.prototype.call.bind(get(Object.prototype, name));
  const getterOf = lookUp("__lookupGetter__");
  const setterOf = lookUp("__lookupSetter__");
  const freezeMethods = (prototype: object): void => {
    for (const name of ownKeys(prototype)) {
      const getter = getterOf(prototype, name);
      const setter = setterOf(prototype, name);
      if (typeof getter === "function") freeze(getter);
      if (typeof setter === "function") freeze(setter);
      const method: unknown = getter === undefined && setter === undefined ? get(prototype, name) : undefined;
      if (typeof method === "function") freeze(method);
    }
  };
  for (const prototype of seen) {
    if (prototype === realmGlobal) continue;
    deleteProperty(prototype, "constructor");
    freezeMethods(prototype);
    if (prototype !== spared) freeze(prototype);
  }
  for (const name of ownKeys(realmGlobal)) deleteProperty(realmGlobal, name);
}
