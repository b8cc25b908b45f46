import type { CrabcodeSessionEvent } from "@trivium/proto/crabcode-events";
import type { SessionEventBus } from "../events/session-event-bus.ts";
import { LoopEvents } from "../turn/loop-events.ts";

/** The events of a hosted agent: nobody reads them, only what went wrong is remembered. */
export class HostedEvents extends LoopEvents {
  #failure: string | undefined;

  constructor(bus: SessionEventBus, operationId: string) {
    super(bus, { agentId: null, context: { operationId } });
  }

  /** The last error. */
  get failure(): string | undefined {
    return this.#failure;
  }

  override publish(event: CrabcodeSessionEvent): void {
    if (event.type === "error") this.#failure = event.message;
  }
}
