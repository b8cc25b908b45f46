/** `google.rpc.ErrorInfo`, as the generator writes it. Contract: proto/google/rpc/error_details.proto */
export * from "./gen/google/rpc/error_details_pb.ts";
