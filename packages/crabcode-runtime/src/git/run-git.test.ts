import { describe, expect, it } from "vitest";
import type { ProgramRequest } from "../ports/program-port.ts";
import { runGit } from "./run-git.ts";

describe("a run of git", () => {
  it("takes no program from the folder it works in, and starts none that a configuration names", async () => {
    const requests: ProgramRequest[] = [];
    await runGit(
      async (request) => {
        requests.push(request);
        return { exitCode: 0, stdout: new Uint8Array(), stderr: "" };
      },
      { args: ["status"], folder: "/work" },
    );
    expect(requests).toMatchObject([{ workingDirectory: "/work", distrustedFolders: ["/work"] }]);
    expect(requests[0]?.argv).toEqual(
      expect.arrayContaining(["core.fsmonitor=false", "core.hooksPath=/dev/null"]),
    );
  });

  it("says what git said", async () => {
    const failing = runGit(async () => ({ exitCode: 128, stdout: new Uint8Array(), stderr: "fatal: no\n" }), {
      args: ["status"],
      folder: "/work",
    });
    await expect(failing).rejects.toMatchObject({
      kind: "unavailable",
      message: "git status failed: fatal: no",
    });
  });
});
