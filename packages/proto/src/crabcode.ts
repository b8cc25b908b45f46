/** Types of `crabcode`, as the generator writes them. Contract: proto/crabcode/crabcode.proto */
export * from "./gen/crabcode/crabcode_pb.ts";
