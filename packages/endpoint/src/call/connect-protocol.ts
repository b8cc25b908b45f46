/**
 * The one place that imports Connect's protocol subpaths, which promise no stability between releases: what the
 * endpoint needs of the three wire formats beyond the universal handlers.
 */

export { type Compression, encodeEnvelope, type UniversalHandler } from "@connectrpc/connect/protocol";
export {
  codeToHttpStatus,
  codeToString,
  createEndStreamSerialization,
  endStreamFlag,
  errorToJsonBytes,
  parseTimeout as parseConnectTimeout,
} from "@connectrpc/connect/protocol-connect";
export { parseTimeout as parseGrpcTimeout, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
export { trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
