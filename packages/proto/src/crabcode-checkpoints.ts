/** Types of `trivium.crabcode.v1.CheckpointService`, as the generator writes them. Contract: proto/trivium/crabcode/v1/checkpoint.proto */
export * from "./gen/trivium/crabcode/v1/checkpoint_pb.ts";
