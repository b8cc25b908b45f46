/** The script of the page: one conversation, live. `?session=<id>` chooses it; without, it is the server's own. */

import { TriviumError } from "@trivium/core";
import { CrabcodeClient } from "@trivium/crabcode-client";
import { createWebTransport } from "@trivium/rpc/web";
import { controls } from "./controls.ts";
import { ConversationPage } from "./conversation-page.ts";

/** Kept for this tab only. */
const TOKEN_KEY = "trivium-token";

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
  try {
    while ((await (await ConversationPage.open(client, wanted)).follow()) === "reopen");
    show("lost", "the session was closed");
  } catch (error) {
    const isRefused = TriviumError.isInstance(error) && error.kind === "unauthenticated";
    controls.signIn.hidden = !isRefused;
    show("lost", isRefused ? "not signed in" : error instanceof Error ? error.message : "disconnected");
  }
}

function show(state: "lost", text: string): void {
  controls.connection.dataset["state"] = state;
  controls.connection.textContent = text;
}
