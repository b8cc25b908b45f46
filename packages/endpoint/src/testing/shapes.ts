import { create, createFileRegistry, type DescService } from "@bufbuild/protobuf";
import {
  type BytesValue,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_wrappers,
  MethodOptions_IdempotencyLevel,
} from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";

type Item = { value: Uint8Array };

/** Implementations of `test.Shapes`, which has one method of each kind over byte strings. */
export interface ShapesImplementation {
  /** Free of side effects: Connect may GET it. */
  readonly look?: (request: BytesValue, context: HandlerContext) => Promise<Item> | Item;
  readonly download?: (request: BytesValue, context: HandlerContext) => AsyncIterable<Item>;
  readonly upload?: (requests: AsyncIterable<BytesValue>, context: HandlerContext) => Promise<Item>;
  readonly talk?: (requests: AsyncIterable<BytesValue>, context: HandlerContext) => AsyncIterable<Item>;
}

/** Our contracts have no client-streaming call and none free of side effects, so this service is made at run time. */
export const Shapes: DescService = buildService();

/** Adds `test.Shapes` to a router. */
export function shapesService(implementation: ShapesImplementation): (router: ConnectRouter) => void {
  return (router) => void router.service(Shapes, implementation as never);
}

function buildService(): DescService {
  const bytes = ".google.protobuf.BytesValue";
  const types = { inputType: bytes, outputType: bytes };
  const file = create(FileDescriptorProtoSchema, {
    name: "test/shapes.proto",
    package: "test",
    syntax: "proto3",
    dependency: [file_google_protobuf_wrappers.proto.name],
    service: [
      {
        name: "Shapes",
        method: [
          {
            name: "Look",
            ...types,
            options: { idempotencyLevel: MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS },
          },
          { name: "Download", ...types, serverStreaming: true },
          { name: "Upload", ...types, clientStreaming: true },
          { name: "Talk", ...types, clientStreaming: true, serverStreaming: true },
        ],
      },
    ],
  });
  const set = create(FileDescriptorSetSchema, { file: [file_google_protobuf_wrappers.proto, file] });
  return createFileRegistry(set).getService("test.Shapes")!;
}
