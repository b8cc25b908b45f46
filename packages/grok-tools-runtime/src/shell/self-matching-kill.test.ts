import { describe, expect, it } from "vitest";
import { selfMatchingPattern } from "./self-matching-kill.ts";

describe("selfMatchingPattern", () => {
  it.each([
    ["pkill -f myserver; ./myserver", "myserver"],
    ["pkill -9f 'my server' && echo my server", "my server"],
    ["sleep 1; pkill --full node.js; node.js", "node.js"],
    ["pkill -u me -f serve; serve", "serve"],
    ["pgrep --full 'abc def' | xargs -r kill && echo abc def", "abc def"],
  ])("of %j is %j", (command, pattern) => {
    expect(selfMatchingPattern(command)).toBe(pattern);
  });

  it.each([
    "pkill -f myserver",
    "pkill myserver; ./myserver",
    "pgrep -f myserver; ./myserver",
    "pkill -f ab; ab",
    'pkill -f "$(cat name)"; cat name',
    "echo pkillx -f myserver; ./myserver",
  ])("is none in %j", (command) => {
    expect(selfMatchingPattern(command)).toBeUndefined();
  });
});
