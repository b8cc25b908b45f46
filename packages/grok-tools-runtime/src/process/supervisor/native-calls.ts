/**
 * The few system calls that Node has no API for, through its built-in foreign function interface.
 *
 * This is the only module that knows that experimental interface. Where it is missing (Node below 26, another
 * libc) {@link loadNativeCalls} gives undefined and the weaker containment layers are used.
 */
export interface NativeCalls {
  /** Makes this process the parent of every orphan below it. Not inherited by children. */
  becomeSubreaper(): boolean;
  /** A child that has ended and was not reaped, without reaping it. 0: children, none of them ended. -1: no child at all. */
  peekEndedChild(): number;
  /** Takes the status of an ended child. Undefined when `pid` is no ended child. */
  reapChild(pid: number): ChildStatus | undefined;
  /** Makes a FIFO with mode 0600. False when the path exists or cannot be made. */
  makeFifo(path: string): boolean;
  /** Version of the kernel's Landlock interface; 0 without it. */
  landlockVersion(): number;
}

/** How a child ended. Exactly one is not null. */
export interface ChildStatus {
  readonly exitCode: number | null;
  readonly signalNumber: number | null;
}

type Value = number | bigint | string | Uint8Array;
type Call = (name: keyof typeof DEFINITIONS, ...values: Value[]) => number;

interface ForeignFunctions {
  dlopen(
    path: string,
    definitions: Record<string, { arguments: string[]; return: string }>,
  ): { functions: Record<string, (...values: Value[]) => number | bigint> };
}

/** glibc, then musl on the two common processors. */
const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

const DEFINITIONS = {
  prctl: { arguments: ["int32", "uint64", "uint64", "uint64", "uint64"], return: "int32" },
  waitid: { arguments: ["int32", "uint32", "buffer", "int32"], return: "int32" },
  waitpid: { arguments: ["int32", "buffer", "int32"], return: "int32" },
  mkfifo: { arguments: ["string", "uint32"], return: "int32" },
  syscall: { arguments: ["int64", "uint64", "uint64", "uint64"], return: "int64" },
};

const PR_SET_CHILD_SUBREAPER = 36;
const P_ALL = 0;
const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x0100_0000;
/** `si_pid` inside `siginfo_t` on 64-bit Linux. */
const SI_PID_OFFSET = 16;
const SYS_LANDLOCK_CREATE_RULESET = 444n;
const LANDLOCK_CREATE_RULESET_VERSION = 1n;

/** The calls, or undefined where they are not to be had. */
export function loadNativeCalls(): NativeCalls | undefined {
  if (process.platform !== "linux") return undefined;
  const call = openLibrary();
  return call === undefined ? undefined : nativeCalls(call);
}

function openLibrary(): Call | undefined {
  let foreign: ForeignFunctions | undefined;
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- experimental module without types
    foreign = process.getBuiltinModule("node:ffi") as unknown as ForeignFunctions | undefined;
  } catch {
    // Node throws for built-in modules it does not know.
    return undefined;
  }
  if (foreign === undefined) return undefined;
  for (const library of LIBRARIES) {
    try {
      const { functions } = foreign.dlopen(library, DEFINITIONS);
      return (name, ...values) => Number(functions[name]?.(...values) ?? -1);
    } catch {
      // Another libc: try its name next.
    }
  }
  return undefined;
}

function nativeCalls(call: Call): NativeCalls {
  const info = new Uint8Array(128);
  const infoView = new DataView(info.buffer);
  const status = new Uint8Array(4);
  const statusView = new DataView(status.buffer);
  return {
    becomeSubreaper: () => call("prctl", PR_SET_CHILD_SUBREAPER, 1n, 0n, 0n, 0n) === 0,
    peekEndedChild() {
      info.fill(0);
      const result = call("waitid", P_ALL, 0, info, WNOHANG | WEXITED | WNOWAIT);
      return result === 0 ? infoView.getInt32(SI_PID_OFFSET, true) : -1;
    },
    reapChild(pid) {
      if (call("waitpid", pid, status, WNOHANG) !== pid) return undefined;
      const word = statusView.getInt32(0, true);
      const signalNumber = word & 0x7f;
      return signalNumber === 0
        ? { exitCode: (word >> 8) & 0xff, signalNumber: null }
        : { exitCode: null, signalNumber };
    },
    makeFifo: (path) => call("mkfifo", path, 0o600) === 0,
    landlockVersion: () =>
      Math.max(0, call("syscall", SYS_LANDLOCK_CREATE_RULESET, 0n, 0n, LANDLOCK_CREATE_RULESET_VERSION)),
  };
}
