export {
  type CallbackHost,
  type CallbackHostOptions,
  type NotificationSource,
  serveCallbacks,
} from "./serve-callbacks.ts";
export type { SubagentResult, SubagentTask } from "./subagent.ts";
