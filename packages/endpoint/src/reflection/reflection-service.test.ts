import { create, createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, createClient, type Transport } from "@connectrpc/connect";
import { CodeModeHost } from "@trivium/proto/code-mode";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { GrokToolsService } from "@trivium/proto/grok-tools";
import { ServerReflection, v1alpha } from "@trivium/proto/reflection";
import { createNodeTransport, type NodeTransport } from "@trivium/rpc/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEndpoint, type Endpoint } from "../endpoint.ts";
import { shapesService } from "../testing/shapes.ts";

describe.each([
  ["v1", ServerReflection],
  ["v1alpha", v1alpha.ServerReflection],
])("grpc.reflection.%s", (_version, service) => {
  let endpoint: Endpoint;
  let transport: NodeTransport;

  beforeAll(async () => {
    endpoint = createEndpoint({
      services: [
        (router) => router.service(CrabCodeService, {}),
        (router) => router.service(CodeModeHost, {}),
        (router) => router.service(GrokToolsService, {}),
        shapesService({}),
      ],
    });
    const { url } = await endpoint.listen();
    transport = createNodeTransport({ baseUrl: url });
  });
  afterAll(async () => {
    await transport[Symbol.asyncDispose]();
    await endpoint.close();
  });

  it("lists every service, itself included", async () => {
    const [answer] = await ask(transport, service, [{ case: "listServices", value: "" }]);
    expect(answer).toMatchObject({ case: "listServicesResponse" });
    if (answer?.case !== "listServicesResponse") return;
    expect(answer.value.service.map(({ name }) => name)).toEqual([
      "crabcode.CrabCodeService",
      "codex.code_mode.v1.CodeModeHost",
      "xai.grok.tools.v1.GrokToolsService",
      "test.Shapes",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
    ]);
  });

  it.each([
    ["a service", "crabcode.CrabCodeService", "crabcode/crabcode.proto"],
    ["a method", "crabcode.CrabCodeService.SendMessage", "crabcode/crabcode.proto"],
    ["a message", "crabcode.SendMessageRequest", "crabcode/crabcode.proto"],
    ["a field", "crabcode.SendMessageRequest.text", "crabcode/crabcode.proto"],
    ["an enum", "xai.grok.tools.v1.ErrorCode", "xai/grok/tools/v1/grok_tools.proto"],
    ["an enum value", "xai.grok.tools.v1.ERROR_CODE_INVALID_INPUT", "xai/grok/tools/v1/grok_tools.proto"],
    ["a oneof", "codex.code_mode.v1.SessionEvent.event", "codex/code_mode/v1/code_mode.proto"],
  ])("finds the file of %s", async (_kind, symbol, fileName) => {
    const [answer] = await ask(transport, service, [{ case: "fileContainingSymbol", value: symbol }]);
    expect(fileNames(answer)[0]).toBe(fileName);
  });

  it("sends a file with all it needs, so that a client can build the types from one answer", async () => {
    const [answer] = await ask(transport, service, [
      { case: "fileByFilename", value: "xai/grok/tools/v1/grok_tools.proto" },
    ]);
    if (answer?.case !== "fileDescriptorResponse") throw new Error(answer?.case);
    const file = answer.value.fileDescriptorProto
      .map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
      .reverse();
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file }));
    expect(registry.getService("xai.grok.tools.v1.GrokToolsService")?.methods.length).toBe(
      GrokToolsService.methods.length,
    );
  });

  it("sends imported files, too", async () => {
    const [answer] = await ask(transport, service, [{ case: "fileContainingSymbol", value: "test.Shapes" }]);
    expect(fileNames(answer)).toEqual(["test/shapes.proto", "google/protobuf/wrappers.proto"]);
  });

  it("answers what it cannot find on the stream, and goes on", async () => {
    const answers = await ask(transport, service, [
      { case: "fileContainingSymbol", value: "nope.Nope" },
      { case: "fileContainingSymbol", value: "crabcode.CrabCodeService.Nope" },
      { case: "fileByFilename", value: "nope.proto" },
      {
        case: "fileContainingExtension",
        value: { containingType: "crabcode.SendMessageRequest", extensionNumber: 1 },
      },
      { case: "allExtensionNumbersOfType", value: "nope.Nope" },
      { case: undefined },
      { case: "allExtensionNumbersOfType", value: "crabcode.SendMessageRequest" },
    ]);
    const codes = answers.map((answer) => answer.case === "errorResponse" && answer.value.errorCode);
    expect(codes).toEqual([
      Code.NotFound,
      Code.NotFound,
      Code.NotFound,
      Code.NotFound,
      Code.NotFound,
      Code.InvalidArgument,
      false,
    ]);
  });
});

type Query = NonNullable<
  Parameters<typeof create<typeof ServerReflection.method.serverReflectionInfo.input>>[1]
>["messageRequest"];

async function ask(
  transport: Transport,
  service: typeof ServerReflection | typeof v1alpha.ServerReflection,
  queries: readonly Query[],
) {
  const requests = (async function* () {
    for (const messageRequest of queries) yield { host: "test", messageRequest: messageRequest as never };
  })();
  const answers = [];
  for await (const response of createClient(
    service as typeof ServerReflection,
    transport,
  ).serverReflectionInfo(requests)) {
    expect(response.validHost).toBe("test");
    answers.push(response.messageResponse);
  }
  return answers;
}

function fileNames(answer: Awaited<ReturnType<typeof ask>>[number] | undefined): string[] {
  if (answer?.case !== "fileDescriptorResponse") throw new Error(String(answer?.case));
  return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name);
}
