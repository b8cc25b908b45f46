export { createWebTransport, type WebTransportOptions } from "./web-transport.ts";
