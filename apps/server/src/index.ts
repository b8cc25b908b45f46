export { type RunningServer, type ServerSurroundings, startServer } from "./compose/start-server.ts";
export { ConfigError } from "./config/config-error.ts";
export type { ConfigName, ConfigValues } from "./config/config-keys.ts";
export { type Config, type ConfigSources, readConfig } from "./config/read-config.ts";
