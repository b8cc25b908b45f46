/** Last line of a state that was written to its end. */
export const STATE_END = "# end of the shell's state\n";

/** Where a command finds the state of the shell and where it leaves it. */
export interface StateFiles {
  /** Undefined: there is none yet. */
  readonly from: string | undefined;
  /** Undefined: the command leaves none. */
  readonly into: string | undefined;
}

/**
 * A command for bash that begins in the state an earlier one has left and leaves its own: folder, exported variables,
 * functions, aliases and options. A command that exits the shell, or is ended, leaves nothing.
 */
export function statefulScript(command: string, { from, into }: StateFiles): string {
  return [
    ...(from === undefined ? [] : [`. ${quoted(from)}`]),
    `eval ${quoted(command)}`,
    ...(into === undefined ? [] : [writeState(quoted(into))]),
  ].join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Variables that belong to one command or to the moment, as patterns of the shell. */
const UNKEPT_VARIABLES =
  "_|PWD|SHLVL|*_proxy|*_PROXY|GROK_SANDBOX*|GROK_AGENT|SUDO_ASKPASS|GROK_ASKPASS|ELECTRON_RUN_AS_NODE|" +
  "SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR|WAYLAND_DISPLAY|GPG_TTY|BASH_FUNC_*";
/** Options that would end the next command, or keep it from running. */
const UNKEPT_OPTIONS = "*errexit|*pipefail|*nounset|*noexec";

/**
 * The folder and a zero byte, then a script that restores everything. The exit code stays that of the command. Functions and aliases of the command come
 * late in it, so that they mean nothing to the lines before.
 */
function writeState(into: string): string {
  return String.raw`{
__trivium_status=$?
__trivium_options=$(builtin shopt -p; builtin set +o)
builtin set +eux
IFS=$' \t\n'
{
builtin printf '%s\0' "$PWD"
builtin printf 'builtin cd -- %q 2>/dev/null || builtin echo "warning: the folder" %q "is gone; running in $PWD"\n' "$PWD" "$PWD"
for __trivium_name in $(builtin compgen -e); do
case $__trivium_name in ${UNKEPT_VARIABLES}) ;; *) builtin declare -p "$__trivium_name" ;; esac
done
builtin alias -p
builtin declare -f
while builtin read -r __trivium_name; do
case $__trivium_name in ${UNKEPT_OPTIONS}) ;; *) builtin printf 'builtin %s\n' "$__trivium_name" ;; esac
done <<<"$__trivium_options"
builtin printf '%s\n' ${quoted(STATE_END.trimEnd())}
} > ${into}
} 2>/dev/null
exit "$__trivium_status"`;
}
