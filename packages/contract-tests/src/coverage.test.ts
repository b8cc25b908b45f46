import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { requirements } from "./requirements/all.ts";

describe("requirements", () => {
  const folder = fileURLToPath(new URL("./scenarios", import.meta.url));
  const proved = readdirSync(folder).flatMap((name) =>
    [...readFileSync(`${folder}/${name}`, "utf8").matchAll(/verifies\(\s*"([^"]+)"/g)].map(([, id]) => id),
  );

  it.each(Object.keys(requirements))("%s is proved by a scenario", (id) => {
    expect(proved).toContain(id);
  });
});
