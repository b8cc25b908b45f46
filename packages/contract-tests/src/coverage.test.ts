import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readVectors } from "./crabcode/vector.ts";
import { requirements } from "./requirements/all.ts";
import { crabcodeItems } from "./requirements/crabcode-items.ts";
import { crabcodeStatusTable } from "./requirements/crabcode-status.ts";

describe("requirements", () => {
  const folder = fileURLToPath(new URL("./scenarios", import.meta.url));
  const proved = readdirSync(folder).flatMap((name) =>
    [...readFileSync(`${folder}/${name}`, "utf8").matchAll(/verifies\(\s*"([^"]+)"/g)].map(([, id]) => id),
  );

  it.each(Object.keys(requirements))("%s is proved by a scenario", (id) => {
    expect(proved).toContain(id);
  });
});

const packages = fileURLToPath(new URL("../..", import.meta.url));
/** The tests that speak of crabcode, as text. */
const tests = ["crabcode-runtime", "crabcode-server", "contract-tests"].flatMap((name) =>
  readdirSync(`${packages}/${name}/src`, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => readFileSync(`${packages}/${name}/src/${file}`, "utf8")),
);

describe("mistakes that must not come back", () => {
  const named = new Set(tests.flatMap((text) => [...text.matchAll(/\bitem (\d+): /g)].map(([, id]) => id)));

  it.each(Object.entries(crabcodeItems))("item %s has a test of its own: %s", (id) => {
    expect(named).toContain(id);
  });
});

describe("the table of statuses", () => {
  const { rpc_errors: cases, conversations } = readVectors();
  const shown = new Set([
    ...cases.map(({ name }) => `case ${name}`),
    ...conversations.map(({ name }) => `conversation ${name}`),
    ...Object.keys(requirements).map((id) => `scenario ${id}`),
  ]);

  it.each(Object.entries(crabcodeStatusTable))("%s is shown", (_, { shownBy }) => {
    const missing = shownBy.filter((one) => {
      const name = /^test (.*)$/.exec(one)?.[1];
      return name === undefined ? !shown.has(one) : !tests.some((text) => text.includes(`"${name}`));
    });
    expect(missing).toEqual([]);
    expect(shownBy).not.toEqual([]);
  });

  it("names a case of the status that it is about", () => {
    const codeOf = new Map(cases.map(({ name, expect_code }) => [`case ${name}`, expect_code]));
    const others = Object.entries(crabcodeStatusTable).flatMap(([code, { shownBy }]) =>
      shownBy.filter((one) => codeOf.has(one) && codeOf.get(one) !== code),
    );
    expect(others).toEqual([]);
  });
});
