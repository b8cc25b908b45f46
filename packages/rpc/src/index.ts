export { codeOfKind } from "./code-of-kind.ts";
export { errorInterceptor } from "./error-interceptor.ts";
export { fromConnectError } from "./from-connect-error.ts";
export { type JsonValue, parseJsonField } from "./json-field.ts";
export { toConnectError } from "./to-connect-error.ts";
