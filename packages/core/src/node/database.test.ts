import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../logger.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openDatabase } from "./database.ts";

const first = "CREATE TABLE a (x INTEGER) STRICT";
const second = "ALTER TABLE a ADD COLUMN y TEXT";

describe("openDatabase", () => {
  it("applies only the migrations that are missing", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "state.db");
    const before = openDatabase({ path, migrations: [first], logger: silentLogger });
    before.exec("INSERT INTO a (x) VALUES (1)");
    before.close();
    const after = openDatabase({ path, migrations: [first, second], logger: silentLogger });
    expect(after.prepare("SELECT x, y FROM a").all()).toEqual([{ x: 1, y: null }]);
    after.close();
  });

  it("refuses a schema that is newer than the program and leaves it as it is", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "state.db");
    openDatabase({ path, migrations: [first, second], logger: silentLogger }).close();
    expect(() => openDatabase({ path, migrations: [first], logger: silentLogger })).toThrow(
      /schema version 2, this program knows up to 1/,
    );
    openDatabase({ path, migrations: [first, second], logger: silentLogger }).close();
  });

  it("sets a damaged file aside, says so, and starts with an empty database", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "state.db");
    await writeFile(path, "this is not a database ".repeat(200));
    const said: string[] = [];
    const logger = { ...silentLogger, error: (_fields: object, message: string) => void said.push(message) };
    openDatabase({ path, migrations: [first], logger }).close();
    expect(said).toEqual(["the database is damaged and was set aside; starting with an empty one"]);
    expect((await readdir(folder.path)).some((name) => name.startsWith("state.db.corrupt-"))).toBe(true);
  });
});
