export { type Identity, selfSigned } from "./self-signed.ts";
