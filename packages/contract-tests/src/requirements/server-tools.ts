import type { Requirements } from "./requirement.ts";

/** Tools of the server in programs of code mode. */
export const serverToolsRequirements = {
  "server-tools:off": {
    source: "docs/code-mode.md: Server tools",
    behaviour: "Without metadata there are no tools of the server, and the response does not speak of them.",
  },
  "server-tools:in-force": {
    source: "docs/code-mode.md: Server tools",
    behaviour: "The response repeats what is in force; an unknown value is INVALID_ARGUMENT.",
  },
  "server-tools:result": {
    source: "docs/code-mode.md: Server tools",
    behaviour: "A call gives text and output, and rejects with the code and message of the tool's error.",
  },
  "server-tools:invisible": {
    source: "docs/code-mode.md: Server tools",
    behaviour: "A call of a server tool is on no stream of the client and counts in no sequence.",
  },
  "server-tools:beside-client-tools": {
    source: "docs/code-mode.md: Server tools",
    behaviour: "Tools of the client come first and are answered by the client.",
  },
  "server-tools:client-wins": {
    source: "docs/code-mode.md: Server tools",
    behaviour: "A subscription that takes everything takes the calls of server tools too.",
  },
  "server-tools:read-only": {
    source: "docs/code-mode.md: Server tools",
    behaviour: "A session that may only read is offered no tool that changes something.",
  },
  "server-tools:tool-session": {
    source: "docs/code-mode.md: Server tools",
    behaviour: "A named tool session gives its tools; one without tools is FAILED_PRECONDITION.",
  },
  "server-tools:rules": {
    source: "docs/code-mode.md: Server tools",
    behaviour: "Rules deny, and what they would ask about is denied where nobody can be asked.",
  },
  "server-tools:asked": {
    source: "docs/code-mode.md: Server tools",
    behaviour: "With a conversation the question is asked there, and its answer decides.",
  },
  "server-tools:unknown-conversation": {
    source: "docs/code-mode.md: Server tools",
    behaviour: "A conversation that is to be asked and does not exist is NOT_FOUND.",
  },
} satisfies Requirements;
