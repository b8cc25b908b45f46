import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelRequest, ModelTool } from "../../ports/model-port.ts";
import type { WireFormat } from "../providers.ts";
import type { ResolvedProfile } from "../resolve-profile.ts";
import { toPrompt } from "./to-prompt.ts";

/** Smallest reasoning budget the Messages API takes, and what is left for the answer beside it. */
const MIN_THINKING_TOKENS = 1_024;

/** Under which key a provider package keeps the metadata of its reasoning parts. */
const reasoningKeys: Readonly<Record<WireFormat, string | undefined>> = {
  messages: "anthropic",
  responses: "openai",
  chat: undefined,
  "chat-openai": undefined,
};

/** One request of the loop as the provider packages take it. */
export function toCallOptions(
  profile: ResolvedProfile,
  request: ModelRequest,
  signal: AbortSignal,
): LanguageModelV4CallOptions {
  const providerOptions = providerOptionsOf(profile, request);
  return {
    prompt: toPrompt(request, {
      reasoningKey: reasoningKeys[profile.wire],
      callKey: callKeyOf(profile),
      passReasoningText: profile.passReasoningText,
    }),
    maxOutputTokens: request.maxOutputTokens,
    abortSignal: signal,
    ...(request.tools.length > 0 && { tools: request.tools.map(toFunctionTool) }),
    ...reasoningOf(profile, request),
    ...(providerOptions !== undefined && { providerOptions }),
  };
}

/**
 * Under which key a call's metadata is kept and given back; undefined where it is of no use. The package for
 * compatible servers uses the name it was given.
 */
export function callKeyOf({ wire, provider }: ResolvedProfile): string | undefined {
  return wire === "chat" ? provider : undefined;
}

/** Tokens to ask for as reasoning so that some are left for the answer; undefined when there are too few. */
export function thinkingBudget({ thinking, maxOutputTokens }: ModelRequest): number | undefined {
  if (thinking === undefined) return undefined;
  const budgetTokens = Math.min(thinking.budgetTokens, maxOutputTokens - MIN_THINKING_TOKENS);
  return budgetTokens >= MIN_THINKING_TOKENS ? budgetTokens : undefined;
}

function toFunctionTool({ name, description, inputSchema }: ModelTool): LanguageModelV4FunctionTool {
  return {
    type: "function",
    name,
    description,
    // A JSON Schema by the port's contract; the package's type is a closed description of the same thing.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    inputSchema: inputSchema as LanguageModelV4FunctionTool["inputSchema"],
  };
}

type Reasoning = NonNullable<LanguageModelV4CallOptions["reasoning"]>;

const efforts: readonly Reasoning[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function reasoningOf(
  { wire, reasoningEffort }: ResolvedProfile,
  { thinking }: ModelRequest,
): { reasoning?: Reasoning } {
  const effort = efforts.find((known) => known === reasoningEffort);
  if (wire === "messages") return {};
  if (effort !== undefined) return { reasoning: effort };
  if (wire !== "responses" || thinking === undefined) return {};
  if (thinking.budgetTokens >= 20_000) return { reasoning: "high" };
  return { reasoning: thinking.budgetTokens >= 8_000 ? "medium" : "low" };
}

function providerOptionsOf(
  { wire, reasoningEffort }: ResolvedProfile,
  request: ModelRequest,
): SharedV4ProviderOptions | undefined {
  if (wire === "responses") {
    // Nothing stays at the provider: reasoning comes back encrypted and goes along with the next request.
    return {
      openai: {
        store: false,
        ...(request.thinking !== undefined && {
          // The package knows the reasoning models of today only.
          forceReasoning: true,
          reasoningSummary: "auto",
          include: ["reasoning.encrypted_content"],
        }),
      },
    };
  }
  if (wire !== "messages") return undefined;
  const budgetTokens = thinkingBudget(request);
  return {
    anthropic: {
      ...(budgetTokens !== undefined && { thinking: { type: "enabled", budgetTokens } }),
      ...(reasoningEffort !== undefined && { effort: reasoningEffort }),
    },
  };
}
