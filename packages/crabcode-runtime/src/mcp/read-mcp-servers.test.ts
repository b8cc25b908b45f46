import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Logger, silentLogger } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { type McpServerSources, readMcpServers } from "./read-mcp-servers.ts";

const times = { startupTimeoutMs: 30_000, callTimeoutMs: 60_000 };

/** Reads what the files say; `%` stands before names of the user's folders. */
async function read(
  files: Record<string, unknown>,
  more: Partial<Pick<McpServerSources, "isTrustedFolder" | "settings">> = {},
): Promise<{ servers: ReturnType<typeof readMcpServers>; warnings: string[] }> {
  await using folder = await temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  }
  const warnings: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (fields, message) => warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  const sources = {
    cwd: join(folder.path, "work"),
    userFolder: join(folder.path, "home/.crabcode"),
    homeFolder: join(folder.path, "home"),
    isTrustedFolder: true,
    settings: {},
    ...more,
  };
  return { servers: readMcpServers(sources, logger), warnings };
}

const server = (command: string) => ({ command: [command] });
const FILES = [
  "home/.crabcode/mcp_servers.json",
  "home/.claude/mcp_servers.json",
  "work/.crabcode/mcp_servers.json",
  "work/.claude/mcp_servers.json",
  "work/.crabcode/mcp_servers.local.json",
];

describe("the MCP servers of a session", () => {
  it("are those of the later file, and of the settings where no file has the name", async () => {
    // The nth file has the servers n and all later ones: the last to have one wins.
    const files = Object.fromEntries(
      FILES.map((file, index) => [
        file,
        Object.fromEntries(FILES.slice(0, FILES.length - index).map((_, n) => [`s${n}`, server(file)])),
      ]),
    );
    const settings = { s0: server("settings"), extra: server("settings") };
    const { servers } = await read(files, { settings });
    const commands = [...servers].map(([name, { definition }]) => [
      name,
      "command" in definition && definition.command,
    ]);
    expect(Object.fromEntries(commands)).toEqual({
      s0: FILES[4],
      s1: FILES[3],
      s2: FILES[2],
      s3: FILES[1],
      s4: FILES[0],
      extra: "settings",
    });
  });

  it("are not those of a folder that is not trusted, which is said", async () => {
    const files = Object.fromEntries(FILES.map((file, index) => [file, { [`s${index}`]: server("x") }]));
    const { servers, warnings } = await read(files, { isTrustedFolder: false });
    expect([...servers.keys()]).toEqual(["s0", "s1"]);
    expect(warnings.filter((text) => text.includes("not trusted"))).toHaveLength(3);
  });

  it.each([
    ["words of a command", { command: ["npx", "-y"], args: ["pkg"], env: { A: "1" } }],
    ["a command and arguments", { command: "npx", args: ["-y", "pkg"], env: { A: "1" } }],
  ])("can be written as %s", async (_, written) => {
    const { servers } = await read({ [FILES[0] ?? ""]: { mcpServers: { a: written } } });
    expect(servers.get("a")).toEqual({
      isTrusted: false,
      definition: { command: "npx", args: ["-y", "pkg"], env: { A: "1" }, ...times },
    });
  });

  it("can be elsewhere", async () => {
    const { servers } = await read({
      [FILES[0] ?? ""]: {
        a: { type: "http", url: "https://one.example/mcp", headers: { authorization: "x" }, trusted: true },
        b: { type: "sse", url: "http://two.example/sse" },
      },
    });
    expect(servers.get("a")).toEqual({
      isTrusted: true,
      definition: { url: "https://one.example/mcp", headers: { authorization: "x" }, ...times },
    });
    expect(servers.get("b")?.definition).toMatchObject({ transport: "sse" });
  });

  it("leave out what is switched off or cannot be used, without telling secrets", async () => {
    const { servers, warnings } = await read(
      {
        [FILES[0] ?? ""]: { off: server("x"), bad: { url: "s3cret" }, worse: 7 },
        [FILES[1] ?? ""]: { off: { disabled: true } },
        [FILES[2] ?? ""]: "no json",
      },
      { settings: { off: server("settings") } },
    );
    expect([...servers.keys()]).toEqual([]);
    expect(warnings.join()).toMatch(/bad[^]*url[^]*/);
    expect(warnings.join()).not.toContain("s3cret");
    expect(warnings.some((text) => text.includes("broken"))).toBe(true);
  });
});
