import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";

const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";

describe.skipIf(!existsSync(executablePath))("the page at /", () => {
  let server: ServerProcess;
  let browser: Browser;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    server = await startServerProcess({ env: { TRIVIUM_TOKEN: "a-token-for-this-test" } });
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  });

  afterAll(async () => {
    await browser?.close();
    await server[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    faults = [];
    page = await browser.newPage();
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("401")) faults.push(message.text());
    });
  });

  afterEach(async () => {
    await page.close();
    expect(faults).toEqual([]);
  });

  it("asks for the token, shows a turn live and writes the file that was allowed in it", async () => {
    await signIn();
    await say("write page.txt: hello");
    await page.getByText("Allow Write?").waitFor();
    expect(existsSync(join(server.workspace, "page.txt"))).toBe(false);
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await page.locator(".question .outcome", { hasText: "allowed" }).waitFor();
    await turnEnded();
    expect(await readFile(join(server.workspace, "page.txt"), "utf8")).toMatch(/^hello\n?$/);
    expect(await page.locator(".call summary").innerText()).toContain("Write");
  });

  it("leaves the file alone when it is denied, and shows the conversation again after a reload", async () => {
    await signIn();
    await say("write denied.txt: hello");
    await page.getByRole("button", { name: "Deny" }).click();
    await page.locator(".question .outcome", { hasText: "denied" }).waitFor();
    await turnEnded();
    expect(existsSync(join(server.workspace, "denied.txt"))).toBe(false);
    const before = await page.locator("#entries > li.user").allInnerTexts();
    await page.reload();
    await page.getByText("connected to").waitFor();
    expect(await page.locator("#entries > li.user").allInnerTexts()).toEqual(before);
    expect(await page.locator(".call summary", { hasText: "Write failed" }).count()).toBeGreaterThan(0);
  });

  it("stops a turn, and says what could not be done", async () => {
    await signIn();
    await say("run sleep 600");
    await page.getByText("Allow Bash?").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".note", { hasText: "the turn ended: interrupted" }).waitFor();
    await turnEnded();
  });

  it("shows markup as the text it is", async () => {
    await signIn();
    await say("<img src=x onerror=alert(1)>");
    await page.locator("li.user", { hasText: "<img src=x onerror=alert(1)>" }).waitFor();
    await turnEnded();
    expect(await page.locator("#entries img").count()).toBe(0);
  });

  async function signIn(): Promise<void> {
    await page.goto(server.url);
    await page.getByLabel("Token").fill("a-token-for-this-test");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("connected to").waitFor();
  }

  async function say(text: string): Promise<void> {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  }

  async function turnEnded(): Promise<void> {
    await page.locator("#stop:disabled").waitFor();
  }
});
