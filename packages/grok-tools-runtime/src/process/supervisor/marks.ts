/**
 * Variables in the environment of every command, by which its processes are found again.
 *
 * They do not begin with `TRIVIUM_`: nothing with that prefix reaches a command, so that a look at the environment
 * shows at once that none of the server's configuration leaked.
 */
export const COMMAND_MARK = "_TRIVIUM_COMMAND";

/** As {@link COMMAND_MARK}, the same for all commands of one server. */
export const SERVER_MARK = "_TRIVIUM_SERVER";
