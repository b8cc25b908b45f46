import { abortReason, type ErrorKind, linkSignals, TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { systemResolver } from "../../../net/host-lookup.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";
import { fetchPage, isAllowedPage, type WebAccess } from "../../../web/fetch-page.ts";
import { type AddressProblem, checkPageAddress } from "../../../web/page-address.ts";
import { pageCache } from "../../../web/page-cache.ts";
import {
  effectiveWebFetchParams,
  type WebFetchParams,
  webFetchParams,
} from "../../../web/web-fetch-params.ts";
import { renderPage } from "./render-page.ts";
import { crossHostRedirect, domainNotAllowed, fetchError, webFetchOutput } from "./web-fetch-output.ts";

const input = z.object({
  url: z.string().describe("Complete address of the page, https:// or http://, at most 2000 characters."),
});

/** GrokBuild:web_fetch over a given way to the outside world. */
export function createWebFetch(access: WebAccess): Tool {
  return defineTool({
    id: "GrokBuild:web_fetch",
    kind: "web_fetch",
    capabilities: { readOnly: true, cancellable: true, supportsTimeout: true },
    description: `Fetches one page of the web and gives its text; HTML comes as Markdown.

- Only listed domains can be fetched, and nothing that needs a login.
- Of a long page the beginning is shown; the whole text is kept in a file whose path is given.
- PDF files, images and videos are saved, and their path is given.
- A redirect to another host is not followed: call again with the address it names.`,
    input,
    params: webFetchParams,
    output: webFetchOutput,
    resources: [pageCache],
    dependency: {
      name: "web_fetch",
      setting: "tools.webFetch.enabled",
      isConfigured: ({ webFetch: settings }) => settings.enabled,
    },
    // The preview is the limit.
    truncation: { builtInMaxOutput: Number.POSITIVE_INFINITY },
    run: ({ url }, context) => runWebFetch(url, context, access),
  });
}

/** GrokBuild:web_fetch: a page of the web as text. */
export const webFetch: Tool = createWebFetch({ resolve: systemResolver });

async function runWebFetch(
  text: string,
  context: ToolContext<WebFetchParams>,
  access: WebAccess,
): Promise<ToolResult> {
  const params = effectiveWebFetchParams(context.params, context.settings.webFetch);
  const url = checkPageAddress(text, params.allow_local);
  if (!(url instanceof URL)) throw addressError(url, context.parameterName("url"));
  if (!isAllowedPage(url, params)) return domainNotAllowed(url.hostname);
  const cache = context.resource(pageCache);
  const limits = { ttlMs: params.cache_ttl_secs * 1000, maxEntries: params.max_cache_entries };
  const cached = cache.find(url.href, limits);
  if (cached !== undefined) return cached;
  const timeoutMs = params.timeout_secs * 1000;
  using limited = linkSignals([context.signal], { timeoutMs, clock: context.clock });
  const { signal } = limited;
  try {
    const answer = await fetchPage({ url, params, access, signal });
    if (answer.kind === "domain-not-allowed") return domainNotAllowed(answer.host);
    if (answer.kind === "bad-address") throw addressError(answer.problem, context.parameterName("url"));
    if (answer.kind === "other-host") {
      return crossHostRedirect(
        answer.originalHost,
        answer.redirectUrl,
        context.toolName("web_fetch") ?? "web_fetch",
      );
    }
    const result = await renderPage(answer, { params, context, signal });
    if (result.truncated !== true) cache.keep(url.href, result, limits);
    return result;
  } catch (thrown) {
    if (context.signal.aborted) throw abortReason(context.signal);
    if (signal.aborted) {
      const message = `it took longer than ${params.timeout_secs} s`;
      return fetchError(url.href, message, { code: ErrorCode.TIMEOUT, retryable: true });
    }
    if (ToolError.isInstance(thrown) || !TriviumError.isInstance(thrown)) throw thrown;
    if (thrown.kind === "permissionDenied") {
      throw addressError({ reason: "address", message: thrown.message }, context.parameterName("url"));
    }
    if (!expected.has(thrown.kind)) throw thrown;
    const retryable = thrown.kind === "unavailable";
    return fetchError(url.href, thrown.message, { code: ErrorCode.EXECUTION_FAILED, retryable });
  }
}

/** Kinds of errors that are about the page, not about us. */
const expected: ReadonlySet<ErrorKind> = new Set([
  "unavailable",
  "outOfRange",
  "dataLoss",
  "failedPrecondition",
]);

function addressError({ reason, message }: AddressProblem, field: string): ToolError {
  if (reason === "url") return ToolError.invalidField(field, message);
  return new ToolError(ErrorCode.PERMISSION_DENIED, message, { details: { field, reason: "address" } });
}
