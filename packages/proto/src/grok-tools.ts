/** Types of `xai.grok.tools.v1`, as the generator writes them. Contract: proto/xai/grok/tools/v1/grok_tools.proto */
export * from "./gen/xai/grok/tools/v1/grok_tools_pb.ts";
