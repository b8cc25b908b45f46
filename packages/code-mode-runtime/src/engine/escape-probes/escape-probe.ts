/** An attempt of a program to get out, or to disturb what comes after it. */
export interface EscapeProbe {
  /** What it tries. */
  readonly tries: string;
  /** The program. It may use what {@link probePrelude} declares, and the tool `echo`. */
  readonly source: string;
  /** The texts it must emit, in order: nothing of the host, of the helpers' realm, or of another session. */
  readonly sees: readonly string[];
  /**
   * How it must end. `failed` ends with an error text that begins with {@link EscapeProbe.error}; an `endless` one runs
   * until it is terminated. Default `completed`.
   */
  readonly ends?: "completed" | "failed" | "endless";
  readonly error?: string;
}

/**
 * Stands before each probe, on one line.
 *
 * `leads(value)` walks prototypes and constructors from a value and tells which global object the functions it finds
 * belong to: `own`, or what else. `seen(call)` is what a call gives or throws, as `leads` judges it.
 */
export const probePrelude: string = [
  "const $own = globalThis, $F = Function, $proto = Object.getPrototypeOf, $String = String",
  `$leads = (value) => { const todo = [value], done = new Set(); while (todo.length > 0 && done.size < 200) {
    const one = todo.pop(); if ((typeof one !== "object" && typeof one !== "function") || one === null || done.has(one)) continue;
    done.add(one); try { todo.push($proto(one)) } catch {} try { todo.push(one.constructor) } catch {}
    if (typeof one === "function" && /Function$/.test(one.name)) { let made; try { made = one("return globalThis") } catch { continue }
      let global; try { global = made() } catch { continue } if (global === undefined || global === null) continue;
      if (typeof global.then === "function" || typeof global.next === "function") continue;
      if (global !== $own) return typeof global.process === "undefined" ? "another realm" : "the host" } } return "own" }`.replaceAll(
    /\n\s*/g,
    " ",
  ),
  "leads = $leads",
  "seen = (call) => { let value; try { value = call() } catch (thrown) { value = thrown } return $leads(value) };",
].join(", ");
