/** Both versions of gRPC reflection; their messages have the same shape, so v1alpha is a namespace of its own. */
export * from "./gen/grpc/reflection/v1/reflection_pb.ts";
export * as v1alpha from "./gen/grpc/reflection/v1alpha/reflection_pb.ts";
