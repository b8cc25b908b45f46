import { type Protocol, protocols } from "../protocols.ts";

/** A protocol cases are played over, and its name in the SDK. */
export interface Carrier extends Protocol {
  readonly sdkProtocol: "grpc" | "grpc-web" | "connect";
}

const sdkProtocols: Readonly<Record<string, Carrier["sdkProtocol"]>> = {
  "gRPC over h2c": "grpc",
  "gRPC-Web over HTTP/1.1": "grpc-web",
  "Connect over h2c, JSON": "connect",
};

/** One protocol of each kind, over both versions of HTTP. */
export const carriers: readonly Carrier[] = protocols.flatMap((protocol) => {
  const sdkProtocol = sdkProtocols[protocol.name];
  return sdkProtocol === undefined ? [] : [{ ...protocol, sdkProtocol }];
});

/** A name for what one carrier makes of a case: folders and sessions have it. */
export function uniqueName(name: string, { sdkProtocol }: Carrier): string {
  return `${name}-${sdkProtocol}`;
}
