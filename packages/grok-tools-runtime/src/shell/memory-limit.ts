/** Sets the limit `$0`, in KiB, where the system has one, and becomes the rest of its arguments. */
const LIMITER = 'ulimit -v "$0" 2>/dev/null; exec "$@"';

/** Arguments that limit the address space of a command, that of each of its processes on its own. */
export function withMemoryLimit(
  argv: readonly [string, ...string[]],
  limitBytes: number | null,
): readonly [string, ...string[]] {
  if (limitBytes === null || limitBytes <= 0) return argv;
  return ["/bin/sh", "-c", LIMITER, String(Math.ceil(limitBytes / 1024)), ...argv];
}
