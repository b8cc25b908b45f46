import type { createContentHelpers } from "./content-helpers.ts";
import type { createConversions } from "./conversions.ts";
import type { hardenRealm } from "./harden-realm.ts";
import type {
  BlockingSend,
  Callable,
  CellSetup,
  Helper,
  Send,
  ServiceRealm,
  ServiceState,
  UserKit,
} from "./realm-types.ts";
import type { createSessionHelpers } from "./session-helpers.ts";
import type { createTimerHelpers } from "./timer-helpers.ts";
import type { createToolHelpers } from "./tool-helpers.ts";

/** The parts that the service realm is built of; each is sent as source text. */
export interface ServiceParts {
  readonly createConversions: typeof createConversions;
  readonly createContentHelpers: typeof createContentHelpers;
  readonly createSessionHelpers: typeof createSessionHelpers;
  readonly createTimerHelpers: typeof createTimerHelpers;
  readonly createToolHelpers: typeof createToolHelpers;
  readonly hardenRealm: typeof hardenRealm;
}

/**
 * Runs once per isolate, in the realm that user code cannot reach, and serves one cell after the other. Sent as
 * source text: it may use nothing but its parameters and the globals of the language.
 */
export function createServiceRealm(parts: ServiceParts): ServiceRealm {
  const { apply, setPrototypeOf } = Reflect;
  const { parse } = JSON;
  const bigIntPrototype: object = BigInt.prototype;
  const objectPrototype = Object.prototype;
  /** A message in so many, or after so many characters, waits until the worker has taken it. */
  const blockingEvery = 64;
  const blockingCharacters = 256 * 1024;

  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- filled by `begin`, before anything reads it
  const state = {} as ServiceState;
  const conversions = parts.createConversions(state);
  const content = parts.createContentHelpers(state, conversions);
  const session = parts.createSessionHelpers(state, conversions);
  const timers = parts.createTimerHelpers(state, conversions);
  const tools = parts.createToolHelpers(state, conversions);
  const groups = [content, session.helpers, timers.helpers];
  const names = groups.map((group) => Object.keys(group));

  /** Nothing that belongs to this realm leaves it: errors are rebuilt, and texts where helpers throw texts. */
  const protect = (run: (first: unknown, second: unknown) => unknown, throwsErrors: boolean): Callable =>
    function (first: unknown, second: unknown): unknown {
      try {
        return run(first, second);
      } catch (thrown) {
        let result: unknown;
        try {
          result = conversions.rebuild(thrown);
          if (!throwsErrors) result = conversions.toErrorText(result);
        } catch {
          // The stack has no room even for that.
          result = "RangeError: Maximum call stack size exceeded";
        }
        throw result;
      }
    };

  const createSend = (post: Send, postBlocking: BlockingSend): Send => {
    let messages = 0;
    let characters = 0;
    return (kind, ...values) => {
      messages += 1;
      for (const value of values) characters += typeof value === "string" ? value.length : 0;
      if (messages < blockingEvery && characters < blockingCharacters) {
        post(kind, ...values);
        return;
      }
      messages = 0;
      characters = 0;
      postBlocking.applySyncPromise(undefined, [kind, ...values]);
    };
  };

  const installHelpers = (kit: UserKit): void => {
    for (let group = 0; group < groups.length; group += 1) {
      for (const name of names[group] ?? []) {
        const helper: Helper | undefined = groups[group]?.[name];
        if (helper === undefined) continue;
        const target = protect(helper.run, helper.throwsErrors === true);
        kit.install(name, kit.wrap(target, helper.name ?? "", helper.length ?? 0));
      }
    }
    kit.install("as_settled", kit.settledHelpers.as_settled);
    kit.install("stream_settled", kit.settledHelpers.stream_settled);
  };

  const importRejection = (): unknown => {
    const { kit } = state;
    return apply(kit.reject, kit.promise, ["unsupported import in exec"]);
  };

  const realm: ServiceRealm = {
    // oxlint-disable-next-line max-params -- callbacks of the worker cross the border as arguments only
    begin(post, postBlocking, readStored, store, kit, setupJson) {
      state.send = createSend(post, postBlocking);
      state.readStored = readStored;
      state.store = store;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the worker
      const setup = parse(setupJson) as CellSetup;
      state.kit = kit;
      session.reset();
      timers.reset();
      tools.reset();
      // JSON asks a BigInt for `toJSON` through this realm's prototype: let it find the script's.
      setPrototypeOf(bigIntPrototype, kit.bigIntPrototype);
      installHelpers(kit);
      tools.install(setup, (run) => protect(run, false));
      const done = protect((isSuccess, thrown) => {
        state.send("done", isSuccess === true ? undefined : conversions.toErrorText(thrown));
      }, false);
      kit.install(setup.doneName, kit.wrap(done, "", 0));
      if (setup.importName !== undefined) {
        kit.install(setup.importName, kit.wrap(protect(importRejection, false), "", 0));
      }
    },
    fireTimer: (timerId) => timers.fire(timerId),
    resolveTool: (callNumber, json) => tools.resolve(callNumber, json),
    rejectTool: (callNumber, message) => tools.reject(callNumber, message),
    end() {
      session.reset();
      timers.reset();
      tools.reset();
      setPrototypeOf(bigIntPrototype, objectPrototype);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- lets go of the realm that ended
      state.kit = undefined as unknown as UserKit;
      state.send = () => {};
      state.readStored = () => undefined;
      state.store = () => undefined;
    },
  };
  parts.hardenRealm(bigIntPrototype);
  return realm;
}
