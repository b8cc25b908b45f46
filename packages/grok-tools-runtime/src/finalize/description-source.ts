import type { DescriptionContext, Tool } from "../tool.ts";

/** The description of a tool before its template is rendered. */
export function descriptionSource(tool: Tool, context: DescriptionContext): string {
  return typeof tool.description === "string" ? tool.description : tool.description(context);
}
