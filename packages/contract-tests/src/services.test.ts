import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { CodeModeHost } from "@trivium/proto/code-mode";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { Health } from "@trivium/proto/health";
import { ServerReflection } from "@trivium/proto/reflection";
import { describe, expect, it } from "vitest";
import { startServerProcess } from "./server/server-process.ts";
import { readAll, readFirst, statusOf } from "./take.ts";

describe("a server that is configured to offer one service", () => {
  it("offers it, tells of no other, and starts nothing for the others", async () => {
    await using server = await startServerProcess({ parameters: ["--set", "services=code-mode"] });
    const transport = createGrpcTransport({ baseUrl: server.url });
    expect((await readFirst(createClient(CodeModeHost, transport).openSession({}))).event.case).toBe(
      "opened",
    );
    expect(await statusOf(createClient(CrabCodeService, transport).healthCheck({}))).toMatchObject({
      code: Code.Unimplemented,
    });
    expect(
      await statusOf(createClient(Health, transport).check({ service: CrabCodeService.typeName })),
    ).toMatchObject({
      code: Code.NotFound,
    });
    const [answer] = await readAll(
      createClient(ServerReflection, transport).serverReflectionInfo(
        (async function* () {
          yield { messageRequest: { case: "listServices" as const, value: "" } };
        })(),
      ),
    );
    const names =
      answer?.messageResponse.case === "listServicesResponse" ? answer.messageResponse.value.service : [];
    expect(names.map(({ name }) => name).filter((name) => !name.startsWith("grpc."))).toEqual([
      CodeModeHost.typeName,
    ]);
    expect(await (await fetch(`${server.url}/metrics`)).text()).not.toContain("trivium_commands");
  });
});
