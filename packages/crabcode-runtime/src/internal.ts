/**
 * For the app, which holds other calls to the same permission rules. Not for users.
 *
 * @internal
 */
export { PermissionPolicy } from "./gates/permission-policy.ts";
export type { PermissionRule } from "./settings/session-settings.ts";
