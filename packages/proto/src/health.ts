/** Types of `grpc.health.v1`, as the generator writes them. Contract: proto/grpc/health/v1/health.proto */
export * from "./gen/grpc/health/v1/health_pb.ts";
