/** Types of `trivium.crabcode.v1.SessionService`, as the generator writes them. Contract: proto/trivium/crabcode/v1/session.proto */
export * from "./gen/trivium/crabcode/v1/session_pb.ts";
