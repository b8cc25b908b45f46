/**
 * For the app, which holds other calls to the same permission rules, and for the tests of the contract. Not for users.
 *
 * @internal
 */
export { PermissionPolicy } from "./gates/permission-policy.ts";
export type { PermissionRule } from "./settings/session-settings.ts";
export { estimateTokens } from "./turn/token-estimate.ts";
