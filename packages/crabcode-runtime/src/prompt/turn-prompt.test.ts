import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ProgramRequest, ProgramResult, RunProgram } from "../ports/program-port.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";

it("each request of a session says how its repository was at the first turn", async () => {
  const asked: string[] = [];
  const runProgram: RunProgram = ({ argv }) => {
    const command = argv.find((word) => ["config", "status", "log"].includes(word)) ?? "";
    asked.push(command);
    const outputs: Record<string, string> = { status: "## main\n M a.txt\n", log: "abc1234 first\n" };
    return Promise.resolve({ exitCode: 0, stdout: Buffer.from(outputs[command] ?? ""), stderr: "" });
  };
  await using fixture = await RuntimeFixture.create({
    script: [{ text: "one" }, { text: "two" }],
    settings: { prompt_profile: { tone_and_style: "Speak softly." } },
    runtime: { runProgram },
  });
  await mkdir(join(fixture.cwd, ".git"));
  await (await fixture.send("x")).all();
  await (await fixture.send("y")).all();
  expect(asked.sort()).toEqual(["config", "log", "status"]);
  for (const { system } of fixture.models.requests) {
    expect(system.at(-1)).toBe(
      "gitStatus: as of the start of this session.\nBranch: main\nStatus:\n M a.txt\nRecent commits:\nabc1234 first",
    );
    expect(system).toContain("Speak softly.");
    expect(system.join()).toContain("Git repository: yes");
  }
});

it("a turn that is interrupted does not wait for the repository, and the next one is told", async () => {
  const answer = Promise.withResolvers<ProgramResult>();
  const asked = Promise.withResolvers<ProgramRequest>();
  const runProgram: RunProgram = (request) => {
    asked.resolve(request);
    return answer.promise;
  };
  await using fixture = await RuntimeFixture.create({ script: [{ text: "one" }], runtime: { runProgram } });
  const turn = await fixture.send("x");
  expect((await asked.promise).timeoutMs).toBe(5_000);
  await fixture.runtime.interruptTurn("");
  expect(await turn.find({ type: "turn_complete" })).toMatchObject({ reason: "interrupted" });
  expect(fixture.models.requests).toEqual([]);
  answer.resolve({ exitCode: 0, stdout: Buffer.from("## main\n"), stderr: "" });
  await (await fixture.send("y")).all();
  expect(fixture.models.requests[0]?.system.at(-1)).toContain("Branch: main\nStatus:\n(clean)");
});
