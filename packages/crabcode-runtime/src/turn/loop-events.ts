import type { CrabcodeSessionEvent, StreamMode } from "@trivium/proto/crabcode-events";
import type { EventContext, SessionEventBus } from "../events/session-event-bus.ts";

/** The events of one run of one loop: its operation, its agent, and the mode it said last. */
export class LoopEvents {
  readonly #bus: SessionEventBus;
  readonly agentId: string | null;
  readonly context: EventContext;
  #mode: StreamMode | undefined;

  constructor(bus: SessionEventBus, { agentId, context }: { agentId: string | null; context: EventContext }) {
    this.#bus = bus;
    this.agentId = agentId;
    this.context = context;
  }

  /** @param context another one for an event of a nested call */
  publish(event: CrabcodeSessionEvent, context: EventContext = this.context): void {
    this.#bus.publish(event, context);
  }

  /** The events of a call that a code cell makes; `parentToolUseId` is the call that started the cell. */
  nested(parentToolUseId: string): LoopEvents {
    return new NestedEvents(this, this.#bus, parentToolUseId);
  }

  /** Publishes a mode when it is another one than before. */
  mode(mode: StreamMode): void {
    if (mode !== this.#mode) this.startStep(mode);
  }

  /** Publishes a mode whatever was before. */
  startStep(mode: StreamMode = "requesting"): void {
    this.#mode = mode;
    this.publish({ type: "stream_mode", mode, agent_id: this.agentId });
  }

  error(error: { message: string; recoverable: boolean; error_type: ErrorType }): void {
    this.publish({ type: "error", ...error, agent_id: this.agentId, command: null, command_error: false });
  }

  /** Everything published so far is written; its last number. */
  async flush(): Promise<number> {
    await this.#bus.flush();
    return this.#bus.seq;
  }
}

/** Events of a nested call: what the loop publishes, with the call it belongs to. Its modes are nobody's business. */
class NestedEvents extends LoopEvents {
  readonly #loop: LoopEvents;

  constructor(loop: LoopEvents, bus: SessionEventBus, parentToolUseId: string) {
    const { operationId } = loop.context;
    super(bus, {
      agentId: loop.agentId,
      context: {
        ...(operationId !== undefined && { operationId }),
        // The turn may end while the cell goes on.
        get scope() {
          return loop.context.scope ?? ("foreground" as const);
        },
        parentToolUseId,
      },
    });
    this.#loop = loop;
  }

  override publish(event: CrabcodeSessionEvent): void {
    this.#loop.publish(event, this.context);
  }

  override mode(): void {}
}

type ErrorType = Extract<CrabcodeSessionEvent, { type: "error" }>["error_type"];
