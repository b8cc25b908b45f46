/** Types of `codex.code_mode.v1`, as the generator writes them. Contract: proto/codex/code_mode/v1/code_mode.proto */
export * from "./gen/codex/code_mode/v1/code_mode_pb.ts";
