/** What results in the shape of MCP look like, for programs that read them. */
export const MCP_TYPES = `type TextContent = { type: "text"; text: string };
type ImageContent = { type: "image"; data: string; mimeType: string };
type AudioContent = { type: "audio"; data: string; mimeType: string };
type ResourceLink = { type: "resource_link"; uri: string; name: string; description?: string; mimeType?: string };
type EmbeddedResource = {
  type: "resource";
  resource: { uri: string; mimeType?: string; text: string } | { uri: string; mimeType?: string; blob: string };
};
type ContentBlock = (TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource) & {
  _meta?: Record<string, unknown>;
};
type CallToolResult<TStructured = unknown> = {
  content: ContentBlock[];
  structuredContent?: TStructured;
  isError?: boolean;
  _meta?: Record<string, unknown>;
};`;
