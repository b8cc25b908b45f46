/** Types of `trivium.tools.v1`, as the generator writes them. Contract: proto/trivium/tools/v1/questions.proto */
export * from "./gen/trivium/tools/v1/questions_pb.ts";
