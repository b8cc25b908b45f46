import type { ServerToolCall, ServerTools } from "../server-tools/server-tools.ts";
import type { ToolDefinition } from "../session-types.ts";
import type { ToolCallResult } from "../tool-calls/tool-call.ts";
import { tool } from "./session-harness.ts";

/** A call that waits for the test to settle it. */
export interface ScriptedServerCall extends ServerToolCall {
  readonly succeed: (outputJson: string) => void;
  readonly fail: (error: Error) => void;
}

/** Tools of a server, played by a test. */
export class ScriptedServerTools implements ServerTools {
  readonly namespace: string = "grok";
  readonly calls: ScriptedServerCall[] = [];
  isDisposed = false;
  readonly #names: readonly string[];

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  definitions(): ToolDefinition[] {
    return this.#names.map((name) => ({ ...tool(name, "grok"), name: `grok__${name}` }));
  }

  call(call: ServerToolCall): Promise<ToolCallResult> {
    const { promise, resolve, reject } = Promise.withResolvers<ToolCallResult>();
    const succeed = (outputJson: string): void => resolve({ type: "succeeded", outputJson });
    this.calls.push({ ...call, succeed, fail: reject });
    return promise;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.isDisposed = true;
    return Promise.resolve();
  }
}
