/**
 * Makes the intrinsics of the service realm worthless to whoever gets hold of one: frozen, and without the
 * `constructor` links that lead to `Function`. The language itself can hand out a prototype object of the realm of
 * a bound function's target (`Reflect.construct(Object, [], text.bind())`). Runs last; sent as source text.
 */
export function hardenRealm(spared: object): void {
  const { apply, deleteProperty, get, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { freeze } = Object;
  const realmGlobal = globalThis;
  const seen = new Set<object>([realmGlobal, spared]);
  const queue: object[] = [];
  const visit = (value: unknown): void => {
    if ((typeof value !== "object" || value === null) && typeof value !== "function") return;
    if (seen.has(value)) return;
    seen.add(value);
    queue.push(value);
  };
  const names = ownKeys(realmGlobal);
  for (const name of names) visit(getOwnPropertyDescriptor(realmGlobal, name)?.value);
  visit(getPrototypeOf(function* () {}));
  visit(getPrototypeOf(async function* () {}));
  visit(getPrototypeOf(async () => {}));
  visit(getPrototypeOf([].values()));
  visit(getPrototypeOf(new Map().entries()));
  visit(getPrototypeOf(new Set().values()));
  visit(getPrototypeOf(""[Symbol.iterator]()));
  visit(getPrototypeOf("".matchAll(/x/g)));
  const iterator = [].values();
  visit(getPrototypeOf(apply(get(iterator, "map"), iterator, [() => 0])));
  for (let index = 0; index < queue.length; index += 1) {
    const target = queue[index];
    if (target === undefined) continue;
    visit(getPrototypeOf(target));
    for (const key of ownKeys(target)) {
      const descriptor = getOwnPropertyDescriptor(target, key);
      visit(descriptor?.value);
      visit(descriptor?.get);
      visit(descriptor?.set);
    }
  }
  deleteProperty(spared, "constructor");
  for (const target of queue) {
    deleteProperty(target, "constructor");
    freeze(target);
  }
  for (const name of names) deleteProperty(realmGlobal, name);
}
