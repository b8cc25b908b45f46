export { createNodeTransport } from "./node-transport.ts";
export type { NodeTransport, NodeTransportOptions } from "./node-transport-options.ts";
