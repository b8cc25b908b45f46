import type { Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";

/** One way to reach a service, with a stock client. */
export interface Protocol {
  readonly name: string;
  createTransport(baseUrl: string): Transport;
}

/** Every protocol and HTTP version that Node clients use. Browsers and plain `fetch` have tests of their own. */
export const protocols: readonly Protocol[] = [
  { name: "gRPC over h2c", createTransport: (baseUrl) => createGrpcTransport({ baseUrl }) },
  {
    name: "gRPC-Web over HTTP/1.1",
    createTransport: (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  },
  {
    name: "gRPC-Web over h2c",
    createTransport: (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
  },
  {
    name: "Connect over HTTP/1.1",
    createTransport: (baseUrl) =>
      createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }),
  },
  {
    name: "Connect over h2c, JSON",
    createTransport: (baseUrl) =>
      createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false }),
  },
];
