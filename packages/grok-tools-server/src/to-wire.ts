import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { ToolAnswer, ToolCard, ToolError } from "@trivium/grok-tools-runtime";
import {
  type ExecutionMetadata,
  ExecutionMetadataSchema,
  OutputFormat,
  type OutputFormatSpecSchema,
  ToolErrorSchema,
  type ToolInfo,
  ToolInfoSchema,
  ToolSource,
  type ToolError as WireToolError,
} from "@trivium/proto/grok-tools";

/** A failure in the words of the contract. */
export function toWireError(error: ToolError): WireToolError {
  const { code, message, details, retryable, suggestion, filePath, lineNumber } = error;
  return create(ToolErrorSchema, {
    code,
    message,
    detailsJson: JSON.stringify(details),
    retryable,
    ...(suggestion !== undefined && { suggestion }),
    ...(filePath !== undefined && { filePath }),
    ...(lineNumber !== undefined && { lineNumber }),
  });
}

/** The facts of a run in the words of the contract. */
export function toWireMetadata(metadata: ToolAnswer["metadata"]): ExecutionMetadata {
  const { durationMs, estimatedTokens, isTruncated, toolVersion, contractVersion } = metadata;
  return create(ExecutionMetadataSchema, {
    durationMs: BigInt(durationMs),
    estimatedTokens,
    truncated: isTruncated,
    toolVersion,
    contractVersion,
  });
}

/** A tool in the words of the contract. */
export function toWireToolInfo(
  card: ToolCard,
  { withSchemas, version }: { withSchemas: boolean; version: string },
): ToolInfo {
  const { capabilities, paramsSchema, defaultParams, currentParams } = card;
  return create(ToolInfoSchema, {
    name: card.name,
    displayName: card.displayName,
    description: card.description,
    shortDescription: card.shortDescription,
    category: card.category,
    enabled: card.isEnabled,
    capabilities: {
      supportsBackground: capabilities.supportsBackground,
      supportsStreaming: capabilities.supportsStreaming,
      hasSideEffects: capabilities.hasSideEffects,
      supportsCancellation: capabilities.supportsCancellation,
      supportsTimeout: capabilities.supportsTimeout,
      isReadOnly: capabilities.isReadOnly,
      customCapabilities: [...capabilities.custom],
    },
    version,
    source: ToolSource.BUILTIN,
    ...(defaultParams !== undefined && { defaultOptionsJson: JSON.stringify(defaultParams) }),
    ...(currentParams !== undefined && { currentOptionsJson: JSON.stringify(currentParams) }),
    outputFormats: outputFormatsOf(card),
    outputFields: card.outputFields.map((field) => ({
      name: field.name,
      description: field.description,
      jsonType: field.type,
      includedIn:
        field.defaultOnly === true ? [OutputFormat.DEFAULT] : [OutputFormat.DEFAULT, OutputFormat.CONCISE],
      potentiallyLarge: field.potentiallyLarge === true,
    })),
    contractVersion: card.contractVersion,
    namespace: card.namespace,
    ...(withSchemas && {
      inputSchemaJson: JSON.stringify(card.inputSchema),
      outputSchemaJson: JSON.stringify(card.outputSchema),
    }),
    ...(withSchemas && paramsSchema !== undefined && { optionsSchemaJson: JSON.stringify(paramsSchema) }),
  });
}

function outputFormatsOf({ outputFields }: ToolCard): MessageInitShape<typeof OutputFormatSpecSchema>[] {
  const fieldsOf = (isConcise: boolean): string[] =>
    outputFields.filter((field) => !(isConcise && field.defaultOnly === true)).map(({ name }) => name);
  return [
    { format: OutputFormat.DEFAULT, description: "Everything.", defaultFields: fieldsOf(false) },
    {
      format: OutputFormat.CONCISE,
      description: "Shorter texts where the tool has them, no byte buffers.",
      defaultFields: fieldsOf(true),
    },
  ];
}
