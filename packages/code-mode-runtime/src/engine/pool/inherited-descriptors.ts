import { readdirSync, readFileSync } from "node:fs";

/** Standard streams and the channel, which a worker is given on purpose. */
const givenDescriptors = 4;
/** `O_CLOEXEC`, as Linux writes it. */
const closeOnExec = 0o2000000;

/**
 * Descriptors that a child of this process gets without being given them: what whoever started the server left open.
 * Node opens its own so that they are not passed on, and sees to the first few that it was given itself. Known on
 * Linux only; elsewhere this finds none.
 */
export function inheritedDescriptors(): readonly number[] {
  if (process.platform !== "linux") return [];
  let names: string[];
  try {
    names = readdirSync("/proc/self/fdinfo");
  } catch {
    // No /proc, or no descriptor left to read it with.
    return [];
  }
  return names.map(Number).filter((descriptor) => descriptor >= givenDescriptors && isInherited(descriptor));
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"));
    return flags?.[1] !== undefined && (Number.parseInt(flags[1], 8) & closeOnExec) === 0;
  } catch {
    // Closed meanwhile, like the one that listed the folder.
    return false;
  }
}
