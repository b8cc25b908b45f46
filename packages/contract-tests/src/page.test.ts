import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { CoreEventProtoSchema } from "@trivium/proto/crabcode";
import { type Browser, chromium, type Page } from "playwright";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";

/** Marks the last envelope of a response. */
const TRAILERS = 0x80;
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

  it("takes no token that no call can carry", async () => {
    await page.goto(server.url);
    await page.getByLabel("Token").fill("t\u00f6ken\u2026");
    await page.getByRole("button", { name: "Connect" }).click();
    expect(await page.locator("#token:invalid").count()).toBe(1);
    await page.getByLabel("Token").fill(" a-token-for-this-test ");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("connected to").waitFor();
  });

  it("tries again while the server does not answer", async () => {
    await signIn();
    const calls = "**/crabcode.CrabCodeService/**";
    let attempts = 0;
    await page.route(calls, (route) => {
      attempts += 1;
      return attempts <= 2 ? route.abort() : route.continue();
    });
    await page.reload();
    await page.getByText("trying again").waitFor();
    await page.getByText("connected to").waitFor();
    expect(attempts).toBeGreaterThan(2);
    // Chromium writes down each call that failed.
    faults = faults.filter((fault) => !fault.includes("net::ERR_FAILED"));
  });

  it("shows in another tab what was said, and takes nothing when the session was closed", async () => {
    await signIn();
    const context = await browser.newContext();
    const other = await context.newPage();
    await signIn(other);
    await say("said in the first tab");
    await other.locator("li.user", { hasText: "said in the first tab" }).waitFor();
    await turnEnded();
    const id = (await page.locator("#connection").innerText()).replace("connected to ", "");
    const closed = await fetch(`${server.url}/trivium.crabcode.v1.SessionService/CloseSession`, {
      method: "POST",
      headers: { authorization: "Bearer a-token-for-this-test", "content-type": "application/json" },
      body: JSON.stringify({ sessionId: id }),
    });
    expect(closed.status).toBe(200);
    for (const tab of [page, other]) {
      await tab.getByText("the session was closed").waitFor();
      expect(await tab.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
    }
    await context.close();
  });

  it("shows all of a long answer without laying it out once per piece", async () => {
    await signIn();
    const pieces = 5_000;
    const piece = (seq: number): Uint8Array =>
      enveloped(
        toBinary(
          CoreEventProtoSchema,
          create(CoreEventProtoSchema, {
            type: "stream_text",
            payloadJson: JSON.stringify({ text: `piece ${seq} `, session_id: "s", epoch: "e", seq }),
          }),
        ),
      );
    const body = Buffer.concat([
      ...Array.from({ length: pieces }, (_, index) => piece(index + 1)),
      enveloped(Buffer.from("grpc-status: 0\r\n"), TRAILERS),
    ]);
    await page.route("**/crabcode.CrabCodeService/SubscribeEvents", (route) =>
      route.fulfill({ body, contentType: "application/grpc-web+proto" }),
    );
    // Runs in the page, whose types a test in Node does not have.
    await page.addInitScript(`
      globalThis.changesOfAnswers = 0;
      new MutationObserver((changes) => {
        const ofAnswers = changes.filter(({ target }) => target.className === "text answer");
        globalThis.changesOfAnswers += ofAnswers.length;
      }).observe(document, { childList: true, subtree: true });
    `);
    await page.reload();
    await page.locator("li.answer", { hasText: `piece ${pieces} ` }).waitFor();
    await page.getByText("the session was closed").waitFor();
    const changes = await page.evaluate<number>("changesOfAnswers");
    expect(changes).toBeLessThan(pieces / 2);
  });

  it("leaves the keyboard at the question that was answered", async () => {
    await signIn();
    await say("write keys.txt: hello");
    await page.getByRole("group", { name: "Allow Write?" }).getByRole("button", { name: "Deny" }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".question .outcome:focus", { hasText: "denied" }).waitFor();
    await turnEnded();
  });

  async function signIn(tab = page): Promise<void> {
    await tab.goto(server.url);
    await tab.getByLabel("Token").fill("a-token-for-this-test");
    await tab.getByRole("button", { name: "Connect" }).click();
    await tab.getByText("connected to").waitFor();
  }

  async function say(text: string): Promise<void> {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  }

  async function turnEnded(): Promise<void> {
    await page.locator("#stop:disabled").waitFor();
  }
});

function enveloped(message: Uint8Array, flags = 0): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
