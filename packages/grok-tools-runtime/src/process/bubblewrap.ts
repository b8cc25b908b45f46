/** The program's name, which its processes have too. */
export const BUBBLEWRAP = "bwrap";

/** What every sandbox has. Without dropping capabilities a root user inside could remount everything writable. */
export const bubblewrapOptions: readonly string[] =
  "--cap-drop ALL --die-with-parent --unshare-pid --unshare-ipc --ro-bind / /".split(" ");

/** Inside there is no network. */
export const NO_NETWORK = "--unshare-net";

/** One place of the file system as it is inside. */
export interface SandboxMount {
  readonly path: string;
  readonly kind: "--bind" | "--ro-bind" | "--tmpfs" | "--dev" | "--proc";
}

/** Inside there are other devices, processes and temporary files, and no sockets of the machine's services. */
export const usualMounts: readonly SandboxMount[] = [
  { path: "/dev", kind: "--dev" },
  { path: "/proc", kind: "--proc" },
  { path: "/tmp", kind: "--tmpfs" },
  { path: "/run", kind: "--tmpfs" },
];

/** Options for mounts. Each comes after those it lies in; of two on one path the later one counts. */
export function mountOptions(mounts: readonly SandboxMount[]): string[] {
  return mounts
    .toSorted((one, other) => one.path.length - other.path.length)
    .flatMap(({ path, kind }) =>
      kind === "--bind" || kind === "--ro-bind" ? [kind, path, path] : [kind, path],
    );
}
