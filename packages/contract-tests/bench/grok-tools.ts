/**
 * `pnpm bench`: what the Grok tools cost over gRPC, beside what the same work costs without them.
 *
 * Both sides of a comparison take turns in one run. Parameters choose figures by name; without any all are measured.
 */
import { benchCommandLeaks } from "./grok-tools/command-leaks.ts";
import { benchGrep } from "./grok-tools/grep.ts";
import { loadText } from "./grok-tools/measure.ts";
import { benchReadFile } from "./grok-tools/read-file.ts";
import { benchSearchReplace } from "./grok-tools/search-replace.ts";
import { benchShellCommand } from "./grok-tools/shell-command.ts";
import { benchStream } from "./grok-tools/stream.ts";

const figures = {
  "shell-command": benchShellCommand,
  "read-file": benchReadFile,
  grep: benchGrep,
  "search-replace": benchSearchReplace,
  stream: benchStream,
  "command-leaks": benchCommandLeaks,
};

const wanted = process.argv.slice(2);
for (const [name, bench] of Object.entries(figures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`${name}, ${loadText()} before`);
  await bench();
}
// Connections of the transports stay open.
process.exit(0);
