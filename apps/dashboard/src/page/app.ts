/** The script of the page: one conversation, live. `?session=<id>` chooses it; without, it is the server's own. */

import { sleep, systemClock, TriviumError } from "@trivium/core";
import { CrabcodeClient } from "@trivium/crabcode-client";
import { createWebTransport } from "@trivium/rpc/web";
import { controls } from "./controls.ts";
import { ConversationPage } from "./conversation-page.ts";
import { isPassingFault } from "./passing-fault.ts";

/** Kept for this tab only. */
const TOKEN_KEY = "trivium-token";
/** Between two attempts to reach a server that is gone. */
const RETRY_MS = 2_000;

void open();

controls.signIn.addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN_KEY, controls.token.value.trim());
  controls.token.value = "";
  void open();
});

async function open(): Promise<void> {
  const token = sessionStorage.getItem(TOKEN_KEY) ?? undefined;
  const baseUrl = new URL(".", location.href).href.replace(/\/$/, "");
  const client = new CrabcodeClient(createWebTransport({ baseUrl, token }));
  const wanted = new URLSearchParams(location.search).get("session") ?? "";
  controls.signIn.hidden = true;
  for (;;) {
    try {
      while ((await (await ConversationPage.open(client, wanted)).follow()) === "reopen");
      return show("lost", "the session was closed");
    } catch (error) {
      if (!isPassingFault(error)) return showRefusal(error);
      show("lost", `no answer from the server (${messageOf(error)}); trying again`);
    }
    await sleep(systemClock, RETRY_MS);
  }
}

function showRefusal(error: unknown): void {
  const isRefused = TriviumError.isInstance(error) && error.kind === "unauthenticated";
  controls.signIn.hidden = !isRefused;
  show("lost", isRefused ? "not signed in" : messageOf(error));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "disconnected";
}

function show(state: "lost", text: string): void {
  controls.connection.dataset["state"] = state;
  controls.connection.textContent = text;
}
