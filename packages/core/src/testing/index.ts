export { ManualClock } from "./manual-clock.ts";
export { sequentialIds } from "./sequential-ids.ts";
export { temporaryFolder } from "./temporary-folder.ts";
