import { join } from "node:path";

/** Where the commands of a session have their logs. */
export function logFolder(sessionFolder: string): string {
  return join(sessionFolder, "terminal");
}
