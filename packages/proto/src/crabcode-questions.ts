/** Types of `trivium.crabcode.v1.QuestionService`, as the generator writes them. Contract: proto/trivium/crabcode/v1/question.proto */
export * from "./gen/trivium/crabcode/v1/question_pb.ts";
