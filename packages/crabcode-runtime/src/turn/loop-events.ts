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

  publish(event: CrabcodeSessionEvent): void {
    this.#bus.publish(event, this.context);
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

type ErrorType = Extract<CrabcodeSessionEvent, { type: "error" }>["error_type"];
