import { type Clock, sleep } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { type ResolveHost, resolveChecked } from "../net/host-lookup.ts";
import { ToolError } from "../tool-error.ts";
import type { MediaSettings } from "../tool-settings.ts";
import { callApi, endpoint, property } from "../web/call-api.ts";
import { isLocalHost } from "../web/page-address.ts";
import { ACCEPTED_ENCODINGS, readBody } from "../web/read-body.ts";
import { sendRequest } from "../web/send-request.ts";

/** An API for pictures and films, as one session uses it. */
export interface MediaApi {
  readonly settings: MediaSettings;
  readonly key: string | undefined;
  readonly resolve: ResolveHost;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const IMAGE_ANSWER_BYTES = 64 * 1024 * 1024;
const VIDEO_BYTES = 512 * 1024 * 1024;
const POLL_INTERVAL_MS = 5_000;

/**
 * Asks for one picture: `path` is `images/generations` or `images/edits`.
 *
 * @throws {@link ToolError} as {@link callApi} does, and EXECUTION_FAILED for an answer without a picture.
 */
export async function makeImage(
  api: MediaApi,
  path: string,
  request: Readonly<Record<string, unknown>>,
): Promise<Buffer> {
  const { settings, key, signal } = api;
  const answer = await callApi({
    provider: "the image API",
    url: endpoint(settings.baseUrl, path),
    key,
    body: { model: settings.model, ...request, n: 1, response_format: "b64_json" },
    maxBytes: IMAGE_ANSWER_BYTES,
    signal,
  });
  const data = property(answer, "data");
  const first: unknown = Array.isArray(data) ? data[0] : undefined;
  const encoded = property(first, "b64_json");
  if (typeof encoded === "string" && encoded !== "") return Buffer.from(encoded, "base64");
  const url = property(first, "url");
  if (typeof url === "string") return await download(api, url, IMAGE_ANSWER_BYTES);
  throw new ToolError(ErrorCode.EXECUTION_FAILED, "the image API answered without a picture");
}

/**
 * Starts a film and looks every five seconds until it is there. The caller's signal is the limit.
 *
 * @throws {@link ToolError} as {@link callApi} does, and EXECUTION_FAILED when the film fails.
 */
export async function makeVideo(api: MediaApi, request: Readonly<Record<string, unknown>>): Promise<Buffer> {
  const { settings, key, signal, clock } = api;
  const provider = "the video API";
  const started = await callApi({
    provider,
    url: endpoint(settings.baseUrl, "videos/generations"),
    key,
    body: { model: settings.model, ...request },
    signal,
  });
  const requestId = property(started, "request_id") ?? property(started, "id");
  if (typeof requestId !== "string" || requestId === "") {
    throw new ToolError(ErrorCode.EXECUTION_FAILED, `${provider} answered without an id of the film`);
  }
  const url = endpoint(settings.baseUrl, `videos/${encodeURIComponent(requestId)}`);
  for (;;) {
    await sleep(clock, POLL_INTERVAL_MS, signal);
    const answer = await callApi({ provider, url, key, signal });
    const address = property(property(answer, "video"), "url");
    if (typeof address === "string") return await download(api, address, VIDEO_BYTES);
    const status = property(answer, "status");
    if (typeof status === "string" && /^(failed|expired|cancelled|error)$/.test(status)) {
      throw new ToolError(ErrorCode.EXECUTION_FAILED, `${provider} says that the film is ${status}`);
    }
  }
}

/** What an answer names is fetched from the API itself or from the internet, never from the local network. */
async function download(api: MediaApi, address: string, maxBytes: number): Promise<Buffer> {
  const { settings, resolve, signal } = api;
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ToolError(ErrorCode.EXECUTION_FAILED, "the API named a file at an address that is no URL");
  }
  const isOwn = url.origin === new URL(settings.baseUrl).origin;
  if (!isOwn && (url.protocol !== "https:" || isLocalHost(url.hostname))) {
    throw new ToolError(
      ErrorCode.PERMISSION_DENIED,
      `the API named a file on ${url.host}, which is not fetched`,
    );
  }
  const addresses = isOwn
    ? undefined
    : await resolveChecked(url.hostname, { resolve, permits: (found) => found === "public", signal });
  const headers = { "accept-encoding": ACCEPTED_ENCODINGS };
  await using response = await sendRequest({ url, headers, addresses, signal });
  if (response.status !== 200) {
    throw new ToolError(
      ErrorCode.EXECUTION_FAILED,
      `the file the API made cannot be fetched: HTTP status ${response.status}`,
      { retryable: true, details: { code: "http_failure", status: response.status } },
    );
  }
  return await readBody(response, { url, maxBytes, signal });
}
