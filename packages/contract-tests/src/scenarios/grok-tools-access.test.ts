import { Code, createClient } from "@connectrpc/connect";
import { GrokToolsService } from "@trivium/proto/grok-tools";
import { expect } from "vitest";
import { readAll, statusOf } from "../take.ts";
import { useServer, verifies } from "../verifies.ts";

const token = "t0ken-of-this-test";
useServer({ env: { TRIVIUM_TOKEN: token } });

verifies("every-method:token", async ({ transport, uniqueName }) => {
  const client = createClient(GrokToolsService, transport);
  const calls = (authorization: string | undefined) => {
    const headers: Record<string, string> = {
      "x-trivium-session": uniqueName,
      ...(authorization !== undefined && { authorization }),
    };
    return {
      list: () => client.listTools({}, { headers }),
      all: [
        () => client.listTools({}, { headers }),
        () => client.getToolInfo({ toolName: "GrokBuild:grep" }, { headers }),
        () => client.finalizeToolConfigRequest({ tools: [{ id: "GrokBuild:grep" }] }, { headers }),
        () => client.executeTool({ toolName: "grep" }, { headers }),
        () => readAll(client.executeToolStream({ toolName: "grep" }, { headers })),
        () => client.getToolState({}, { headers }),
        () => client.enableTool({ toolName: "GrokBuild:grep" }, { headers }),
        () => client.getAgentInfo({}, { headers }),
      ],
    };
  };
  for (const wrong of [undefined, "Bearer", `Bearer ${token}x`, `Basic ${token}`, token]) {
    for (const call of calls(wrong).all) {
      expect(await statusOf(call())).toMatchObject({ code: Code.Unauthenticated });
    }
  }
  const { list } = calls(`Bearer ${token}`);
  // Nothing was finalized by those who had no token.
  expect((await list()).totalCount).toBe(50);
});
