import type { CrabcodeSessionEvent } from "@trivium/proto/crabcode-events";
import type { EventContext, SessionEventBus } from "../events/session-event-bus.ts";
import { LoopEvents } from "../turn/loop-events.ts";

/**
 * The events of one run of an agent, as its session publishes them: what the agent says becomes `agent_output`, its
 * modes are nobody's business, everything else carries its id.
 */
export class AgentEvents extends LoopEvents {
  readonly #agentId: string;
  #isClosed = false;
  #text = "";
  #error: string | undefined;

  constructor(bus: SessionEventBus, { agentId, context }: { agentId: string; context: EventContext }) {
    super(bus, { agentId, context });
    this.#agentId = agentId;
  }

  /** What the agent said in this run, trimmed. */
  get text(): string {
    return this.#text.trim();
  }

  /** The last error of this run. */
  get failure(): string | undefined {
    return this.#error;
  }

  /** The run is over: what a part of it that was left behind still says belongs to nothing. */
  close(): void {
    this.#isClosed = true;
  }

  override publish(event: CrabcodeSessionEvent, context: EventContext = this.context): void {
    if (this.#isClosed) return;
    const { type } = event;
    if (type === "stream_mode") return;
    if (type === "stream_text") {
      this.#text += event.text;
      this.#output("text", event.text, context);
    } else if (type === "thinking") this.#output("thinking", event.text, context);
    else if (type === "tool_use") {
      super.publish(event, context);
      this.#output("tool_use", event.tool_name, context);
    } else if (type === "file_change" || type === "snapshot") {
      super.publish({ ...event, agent_id: this.#agentId }, context);
    } else {
      if (type === "error") this.#error = event.message;
      super.publish(event, context);
    }
  }

  #output(stream: "text" | "thinking" | "tool_use", text: string, context: EventContext): void {
    const tool_name = stream === "tool_use" ? text : null;
    super.publish({ type: "agent_output", agent_id: this.#agentId, stream, text, tool_name }, context);
  }
}
