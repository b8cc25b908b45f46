import type { DescService } from "@bufbuild/protobuf";
import { Code, type ConnectRouter } from "@connectrpc/connect";
import { ServerReflection, type ServerReflectionRequest, v1alpha } from "@trivium/proto/reflection";
import { DescriptorIndex } from "./descriptor-index.ts";

type Query = ServerReflectionRequest["messageRequest"] | v1alpha.ServerReflectionRequest["messageRequest"];

/**
 * Adds grpc.reflection v1 and v1alpha to a router: one implementation, since the messages have the same shape.
 *
 * @param services read at the first request, when everything is registered
 */
export function reflectionService(services: () => readonly DescService[]): (router: ConnectRouter) => void {
  let index: DescriptorIndex | undefined;
  const answer = (query: Query): Answer => {
    index ??= new DescriptorIndex(services());
    return answerQuery(index, services(), query);
  };
  return (router) => {
    router.service(ServerReflection, {
      async *serverReflectionInfo(requests) {
        for await (const request of requests) {
          yield {
            validHost: request.host,
            originalRequest: request,
            messageResponse: answer(request.messageRequest),
          };
        }
      },
    });
    router.service(v1alpha.ServerReflection, {
      async *serverReflectionInfo(requests) {
        for await (const request of requests) {
          yield {
            validHost: request.host,
            originalRequest: request,
            messageResponse: answer(request.messageRequest),
          };
        }
      },
    });
  };
}

type Answer =
  | { case: "fileDescriptorResponse"; value: { fileDescriptorProto: Uint8Array[] } }
  | { case: "allExtensionNumbersResponse"; value: { baseTypeName: string; extensionNumber: number[] } }
  | { case: "listServicesResponse"; value: { service: { name: string }[] } }
  | { case: "errorResponse"; value: { errorCode: number; errorMessage: string } };

function answerQuery(index: DescriptorIndex, services: readonly DescService[], query: Query): Answer {
  switch (query.case) {
    case "fileByFilename":
      return filesOr(index.byFileName(query.value), `no file named ${query.value}`);
    case "fileContainingSymbol":
      return filesOr(index.bySymbol(query.value), `no symbol named ${query.value}`);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = query.value;
      return filesOr(
        index.byExtension(containingType, extensionNumber),
        `no extension ${extensionNumber} of ${containingType}`,
      );
    }
    case "allExtensionNumbersOfType": {
      const extensionNumber = index.extensionNumbers(query.value);
      if (extensionNumber === undefined) return failure(Code.NotFound, `no message named ${query.value}`);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName: query.value, extensionNumber } };
    }
    case "listServices": {
      const service = services.map(({ typeName }) => ({ name: typeName }));
      return { case: "listServicesResponse", value: { service } };
    }
    case undefined:
      return failure(Code.InvalidArgument, "the request asks nothing: set one field of message_request");
  }
}

function filesOr(fileDescriptorProto: Uint8Array[] | undefined, message: string): Answer {
  if (fileDescriptorProto === undefined) return failure(Code.NotFound, message);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

/** What is not found is an answer, never the end of the stream. Contract: reflection.proto, ErrorResponse */
function failure(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
