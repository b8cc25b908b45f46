import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import type { LogicalFailure, ToolOutputDefinition, ToolResult } from "../../../tool.ts";

const type = z.literal("WebFetch");

/** The union value `WebFetch`. */
export const webFetchOutput: ToolOutputDefinition = {
  schema: z.union([
    z.object({
      type,
      Content: z.object({
        url: z.string(),
        content: z.string(),
        content_type: z.string(),
        status_code: z.int(),
        bytes: z.int(),
      }),
    }),
    z.object({ type, DomainNotAllowed: z.string() }),
    z.object({ type, CrossHostRedirect: z.object({ original_host: z.string(), redirect_url: z.string() }) }),
    z.object({ type, Error: z.object({ url: z.string(), message: z.string() }) }),
  ]),
  fields: [
    { name: "url", description: "Address of the page after redirects.", type: "string" },
    { name: "content", description: "Its text.", type: "string", potentiallyLarge: true },
    { name: "content_type", description: "`markdown` for a converted page, else its type.", type: "string" },
    { name: "status_code", description: "HTTP status.", type: "number" },
    { name: "bytes", description: "Size of the whole text or file.", type: "number" },
  ],
};

/** The answer for a host that is not listed. */
export function domainNotAllowed(host: string): ToolResult {
  return {
    output: { type: "WebFetch", DomainNotAllowed: host },
    promptText: `Error: ${host} is not among the domains that may be fetched.`,
    failure: {
      code: ErrorCode.PERMISSION_DENIED,
      reason: "domain",
      suggestion: "Use a page of an allowed domain, or ask the user to allow this one.",
    },
  };
}

/** The answer for a redirect that leaves the host. */
export function crossHostRedirect(originalHost: string, redirectUrl: string, toolName: string): ToolResult {
  return {
    output: {
      type: "WebFetch",
      CrossHostRedirect: { original_host: originalHost, redirect_url: redirectUrl },
    },
    promptText: `${originalHost} redirects to another host: ${redirectUrl}`,
    failure: {
      code: ErrorCode.INVALID_INPUT,
      suggestion: `Call ${toolName} again with ${redirectUrl} if that is where you want to go.`,
    },
  };
}

/** The answer for a page that could not be had. */
export function fetchError(url: string, message: string, failure: LogicalFailure): ToolResult {
  return {
    output: { type: "WebFetch", Error: { url, message } },
    promptText: `Error: ${url} could not be fetched: ${message}.`,
    failure,
  };
}
