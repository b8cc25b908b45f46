import type { Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, it } from "vitest";
import { protocols } from "./protocols.ts";
import { type RequirementId, requirement } from "./requirements/all.ts";
import {
  type ServerProcess,
  type ServerProcessOptions,
  startServerProcess,
} from "./server/server-process.ts";

/** What a scenario works with. */
export interface Scenario {
  readonly transport: Transport;
  readonly server: ServerProcess;
  /** A name no other scenario of the run uses, for sessions. */
  readonly uniqueName: string;
}

let count = 0;

/** Proves one requirement over every protocol, against one server process for the file. */
export function verifies(id: RequirementId, prove: (scenario: Scenario) => Promise<void>): void {
  describe(id, () => {
    for (const protocol of protocols) {
      it(`${requirement(id).behaviour} (${protocol.name})`, async () => {
        const server = sharedServer();
        count += 1;
        await prove({
          transport: protocol.createTransport(server.url),
          server,
          uniqueName: `scenario-${process.pid}-${count}`,
        });
      });
    }
  });
}

let shared: ServerProcess | undefined;

/** Starts the server of this file before its scenarios and ends it after them. */
export function useServer(options: ServerProcessOptions = {}): void {
  beforeAll(async () => {
    shared = await startServerProcess(options);
  });
  afterAll(async () => {
    await shared?.[Symbol.asyncDispose]();
  });
}

/** The server of this file. */
export function sharedServer(): ServerProcess {
  if (shared === undefined) throw new Error("call useServer() at the top of the file");
  return shared;
}
