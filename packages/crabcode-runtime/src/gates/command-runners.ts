/** Programs that run what their arguments say: a grant for the program would be one for every command. */
const RUNNERS: ReadonlySet<string> = new Set(
  [
    // Words of the shell.
    "if then elif else fi case esac for select while until do done in function time coproc",
    "eval exec command builtin source . trap enable mapfile readarray fc",
    // Programs that start another one.
    "env sudo doas su runuser pkexec gosu setpriv xargs parallel find fd entr watch nohup setsid stdbuf unbuffer timeout",
    "nice ionice chrt taskset numactl prlimit setarch unshare nsenter chroot flock script expect tmux screen",
    "fakeroot proot bwrap firejail systemd-run dbus-run-session xvfb-run at batch crontab busybox toybox",
    "strace ltrace gdb lldb valgrind perf hyperfine direnv mise asdf nix pipx poetry pipenv conda bundle rake",
    "tar rsync scp sftp socat nc ncat",
    // Programs whose argument is a program.
    "awk gawk mawk nawk sed python pypy perl ruby php lua luajit deno bun tsx ts-node osascript sqlite",
    "vi vim nvim ex ed emacs less more man",
  ].flatMap((line) => line.split(" ")),
);

/** Subcommands behind which another command is written. */
const RUNNING_SUBCOMMANDS: ReadonlySet<string> = new Set([
  "git bisect",
  "git config",
  "git difftool",
  "git filter-branch",
  "git mergetool",
  "git rebase",
  "git submodule",
  "npm exec",
  "npm x",
  "pnpm exec",
  "pnpm dlx",
  "yarn exec",
  "yarn dlx",
  "docker exec",
  "docker run",
  "kubectl exec",
  "kubectl run",
  "uv run",
  "gh alias",
]);

/** True when a program, by its name without a folder, runs what its arguments say. Every shell does. */
export function isRunner(program: string): boolean {
  // Some file systems do not tell the cases apart.
  const name = program.toLowerCase();
  const isShell = name.endsWith("sh") && !name.endsWith(".sh");
  return isShell || RUNNERS.has(name) || RUNNERS.has(name.replace(/[-\d.]+$/, ""));
}

/** True when the words behind a subcommand are another command. */
export function isRunningSubcommand(program: string, subcommand: string): boolean {
  return RUNNING_SUBCOMMANDS.has(`${program} ${subcommand}`);
}
