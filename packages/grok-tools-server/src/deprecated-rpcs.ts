import { type MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import type { ToolSession } from "@trivium/grok-tools-runtime";
import {
  type GrokToolsService,
  type TruncationConfig,
  type TruncationConfigSchema,
} from "@trivium/proto/grok-tools";
import { type JsonValue, parseJsonField } from "@trivium/rpc";
import { toRefusalStatus } from "./refusal-status.ts";
import { type GrokToolsServiceDeps, sessionOf } from "./request-metadata.ts";

const DEFAULT_MAX_OUTPUT_BYTES = 40_000;
const DEFAULT_MAX_LINES_READ = 1_000;

type DeprecatedRpcs = Pick<
  ServiceImpl<typeof GrokToolsService>,
  | "enableTool"
  | "disableTool"
  | "setToolOptions"
  | "getToolOptions"
  | "resetToolOptions"
  | "setToolOverride"
  | "clearToolOverride"
  | "setSystemReminders"
  | "getSystemReminders"
  | "setTruncationConfig"
  | "getTruncationConfig"
>;

/** The methods the contract marks deprecated in favour of finalize. Before it they set its defaults. */
export function deprecatedRpcs(deps: GrokToolsServiceDeps): DeprecatedRpcs {
  const controlsOf = (context: HandlerContext): ToolSession["controls"] => sessionOf(deps, context).controls;
  return {
    enableTool: ({ toolName }, context) => controlsOf(context).setEnabled(toolName, true),
    disableTool: ({ toolName }, context) => controlsOf(context).setEnabled(toolName, false),
    setToolOptions({ toolName, optionsJson, replace }, context) {
      const given = parseOptions(optionsJson);
      const { effective } = refusable(() => controlsOf(context).setOptions(toolName, given, replace));
      return {
        success: true,
        message: `${toolName} is set`,
        effectiveOptionsJson: JSON.stringify(effective),
      };
    },
    getToolOptions({ toolName, includeSchema }, context) {
      const { effective, defaults, configured, schema } = controlsOf(context).options(toolName);
      return {
        toolName,
        effectiveOptionsJson: JSON.stringify(effective),
        defaultOptionsJson: JSON.stringify(defaults),
        configuredOptionsJson: JSON.stringify(configured),
        ...(includeSchema && {
          optionsSchemaJson: JSON.stringify(schema ?? { type: "object", properties: {} }),
        }),
      };
    },
    resetToolOptions({ toolName, keysToReset }, context) {
      const { effective } = refusable(() => controlsOf(context).resetOptions(toolName, keysToReset));
      return {
        success: true,
        message: `${toolName} is reset`,
        effectiveOptionsJson: JSON.stringify(effective),
      };
    },
    setToolOverride({ toolName, toolNameForModel, paramNameOverridesForModel }, context) {
      refusable(() => controlsOf(context).setNames(toolName, toolNameForModel, paramNameOverridesForModel));
      return { success: true, message: `the names of ${toolName} are set` };
    },
    clearToolOverride({ toolName }, context) {
      controlsOf(context).clearNames(toolName);
      return { success: true, message: `${toolName} has its own names` };
    },
    setSystemReminders({ enabled }, context) {
      const controls = controlsOf(context);
      const success = controls.setReminders(enabled);
      const message = success
        ? `reminders are ${enabled ? "on" : "off"}`
        : "concise tools come without reminders";
      return { success, message, enabled: controls.remindersEnabled };
    },
    getSystemReminders: (_request, context) => ({ enabled: controlsOf(context).remindersEnabled }),
    setTruncationConfig({ config }, context) {
      if (config === undefined) throw new TriviumError("invalidInput", "config is missing");
      refusable(() => controlsOf(context).setTruncation(toTruncation(config)));
      return {};
    },
    getTruncationConfig: (_request, context) => ({
      config: effectiveTruncation(controlsOf(context).truncation),
    }),
  };
}

type Truncation = NonNullable<ToolSession["controls"]["truncation"]>;

function toTruncation(config: TruncationConfig): Truncation {
  const { defaultMaxOutputBytes, perToolMaxOutputBytes, maxLinesRead } = config;
  return { defaultMaxOutputBytes, perToolMaxOutputBytes, maxLinesRead };
}

function effectiveTruncation(
  config: Truncation | undefined,
): MessageInitShape<typeof TruncationConfigSchema> {
  return {
    defaultMaxOutputBytes: config?.defaultMaxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES,
    perToolMaxOutputBytes: { ...config?.perToolMaxOutputBytes },
    maxLinesRead: config?.maxLinesRead ?? DEFAULT_MAX_LINES_READ,
  };
}

function parseOptions(text: string): { readonly [key: string]: JsonValue } {
  const value = parseJsonField("options_json", text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new TriviumError("invalidInput", "options_json is not an object");
}

function refusable<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (thrown) {
    throw toRefusalStatus(thrown);
  }
}
