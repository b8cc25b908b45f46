import { spawn } from "node:child_process";
import { once } from "node:events";
import { alternate, median, processCpuMs, report, treeCpuMs } from "./measure.ts";
import { openTools, shellTools } from "./tools-server.ts";

/** `run_terminal_cmd` of `true` beside a bare spawn of the same shell, with a small and with a large server. */
export async function benchShellCommand(): Promise<void> {
  await using small = await openTools(shellTools);
  await using large = await openTools(shellTools, { hasBallast: true });
  const cwd = small.server.workspace;
  const bare = async (): Promise<void> => {
    const argv = ["-O", "extglob", "-c", "true"];
    const child = spawn("bash", argv, { cwd, stdio: ["ignore", "pipe", "pipe"], detached: true });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, "close");
  };
  const through = ({ session }: typeof small) =>
    session.callOrThrow("run_terminal_cmd", { command: "true", description: "Do nothing" });
  const sides = await alternate(
    {
      bare: { run: bare, cpuMs: () => processCpuMs(process.pid) },
      small: { run: () => through(small), cpuMs: () => treeCpuMs(small.server.pid) },
      large: { run: () => through(large), cpuMs: () => treeCpuMs(large.server.pid) },
    },
    { blocks: 15 },
  );
  const [own, ...served] = [sides.bare, sides.small, sides.large];
  const bareText = `bare ${median(own.wallMs).toFixed(2)} ms wall, ${own.cpuMs.toFixed(2)} ms CPU`;
  for (const [index, title] of ["true", "true with 1 GiB more in the server"].entries()) {
    const side = served[index] ?? own;
    const note = `${median(side.wallMs).toFixed(2)} ms wall, ${side.cpuMs.toFixed(2)} ms CPU; ${bareText}`;
    report(title, median(side.wallMs) / median(own.wallMs), { limit: 2, unit: "x a bare spawn", note });
  }
}
