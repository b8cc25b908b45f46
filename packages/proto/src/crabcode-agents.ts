/** Types of `trivium.crabcode.v1.AgentService`, as the generator writes them. Contract: proto/trivium/crabcode/v1/agent.proto */
export * from "./gen/trivium/crabcode/v1/agent_pb.ts";
