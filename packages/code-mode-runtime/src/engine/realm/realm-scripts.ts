import { createContentHelpers } from "./content-helpers.ts";
import { createConversions } from "./conversions.ts";
import { hardenRealm } from "./harden-realm.ts";
import { createServiceRealm } from "./service-realm.ts";
import { createSessionHelpers } from "./session-helpers.ts";
import { createTimerHelpers } from "./timer-helpers.ts";
import { createToolHelpers } from "./tool-helpers.ts";
import { createUserKit } from "./user-kit.ts";

/** Source of a closure that makes the service realm's functions and returns them. */
export const serviceRealmScript: string = `"use strict";
return (${createServiceRealm.toString()})({
  createConversions: (${createConversions.toString()}),
  createContentHelpers: (${createContentHelpers.toString()}),
  createSessionHelpers: (${createSessionHelpers.toString()}),
  createTimerHelpers: (${createTimerHelpers.toString()}),
  createToolHelpers: (${createToolHelpers.toString()}),
  hardenRealm: (${hardenRealm.toString()}),
});`;

/** Source of a closure that prepares a user realm and returns its kit. */
export const userKitScript: string = `"use strict";
return (${createUserKit.toString()})();`;
