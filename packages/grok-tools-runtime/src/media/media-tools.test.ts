import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import { testRuntime } from "../testing/test-runtime.ts";
import { toolContext } from "../testing/tool-context.ts";
import { until } from "../testing/until.ts";
import type { ToolContext } from "../tool.ts";
import { defaultToolSettings } from "../tool-settings.ts";
import { imageEdit } from "../tools/grok-build/image-edit/image-edit.ts";
import { imageGen } from "../tools/grok-build/image-gen/image-gen.ts";
import { imageToVideo } from "../tools/grok-build/image-to-video/image-to-video.ts";
import { referenceToVideo } from "../tools/grok-build/reference-to-video/reference-to-video.ts";
import { jsonBody, localSite } from "../web/testing/local-site.ts";

/** One transparent pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const dataUrl = `data:image/png;base64,${png.toString("base64")}`;

function contextWith(baseUrl: string, folder: string, overrides: Partial<ToolContext<unknown>> = {}) {
  const api = { baseUrl, model: "m", apiKeyEnv: "MEDIA" };
  return toolContext({
    settings: { ...defaultToolSettings, media: { images: api, videos: api } },
    environment: { MEDIA: "s3cret" },
    sessionFolder: folder,
    workingDirectory: folder,
    ...overrides,
  });
}

/** An API that makes every picture and, at the second look, every film. */
async function fakeApi() {
  const bodies: unknown[] = [];
  const keys = new Set<unknown>();
  let looks = 0;
  const site = await localSite(async (request, response) => {
    keys.add(request.headers.authorization);
    if (request.method === "POST") bodies.push(await jsonBody(request));
    const path = request.url ?? "";
    if (path.startsWith("/v1/images/"))
      response.end(JSON.stringify({ data: [{ b64_json: png.toString("base64") }] }));
    else if (path === "/v1/videos/generations") response.end(JSON.stringify({ request_id: "r/1" }));
    else if (path === "/film") response.end("film");
    else {
      looks += 1;
      const isDone = looks > 1;
      const video = isDone ? { url: `${site.origin}/film` } : undefined;
      response.end(JSON.stringify({ status: isDone ? "done" : "pending", video }));
    }
  });
  return { site, bodies, keys, baseUrl: `${site.origin}/v1` };
}

describe("media tools", () => {
  it("saves a picture and says where", async () => {
    await using folder = await temporaryFolder();
    const { site, bodies, keys, baseUrl } = await fakeApi();
    await using _site = site;
    const result = await imageGen.run({ prompt: "a cat" }, contextWith(baseUrl, folder.path));
    const path = join(folder.path, "images/1.jpg");
    expect(result.output).toEqual({ type: "ImageGen", path, filename: "1.jpg", session_folder: folder.path });
    expect(JSON.parse(result.promptText)).toMatchObject({ path, filename: "1.jpg" });
    expect(await readFile(path)).toEqual(png);
    expect(bodies).toEqual([
      {
        model: "m",
        prompt: "a cat",
        aspect_ratio: "auto",
        resolution: "1k",
        n: 1,
        response_format: "b64_json",
      },
    ]);
    expect([...keys]).toEqual(["Bearer s3cret"]);
  });

  it("edits one picture or several, from paths, data URLs and pictures of the session", async () => {
    await using folder = await temporaryFolder();
    const { site, bodies, baseUrl } = await fakeApi();
    await using _site = site;
    const touched: string[] = [];
    const context = contextWith(baseUrl, folder.path, { touched: ({ path }) => void touched.push(path) });
    const file = join(folder.path, "in.png");
    await writeFile(file, png);
    await imageEdit.run({ prompt: "p", image: file }, context);
    await imageEdit.run({ prompt: "p", image: [dataUrl, "[Image #1]"], aspect_ratio: "16:9" }, context);
    const reference = { url: dataUrl, type: "image_url" };
    expect(bodies).toMatchObject([
      { image: reference },
      { images: [reference, reference], aspect_ratio: "16:9" },
    ]);
    expect(bodies[0]).not.toHaveProperty("aspect_ratio");
    expect(touched).toEqual([file, join(folder.path, "images/1.jpg")]);
  });

  it("looks every five seconds until a film is there", async () => {
    await using folder = await temporaryFolder();
    const { site, bodies, baseUrl } = await fakeApi();
    await using _site = site;
    const clock = new ManualClock();
    const running = imageToVideo.run(
      { image: dataUrl, duration: "10" },
      contextWith(baseUrl, folder.path, { clock }),
    );
    await until(() => {
      if (site.requests.includes("GET /film")) return true;
      void clock.advance(1_000);
      return false;
    });
    expect((await running).output).toMatchObject({ type: "ImageToVideo", filename: "1.mp4" });
    expect(await readFile(join(folder.path, "videos/1.mp4"), "utf8")).toBe("film");
    expect(bodies).toEqual([{ model: "m", image: { url: dataUrl }, duration: 10, resolution: "480p" }]);
    expect(site.requests).toEqual([
      "POST /v1/videos/generations",
      "GET /v1/videos/r%2F1",
      "GET /v1/videos/r%2F1",
      "GET /film",
    ]);
  });

  it("sends references and voices", async () => {
    await using folder = await temporaryFolder();
    const { site, bodies, baseUrl } = await fakeApi();
    await using _site = site;
    const controller = new AbortController();
    const input = { prompt: "p", images: [dataUrl], voices: "eve", aspect_ratio: "1:1" };
    const running = referenceToVideo.run(
      input,
      contextWith(baseUrl, folder.path, { signal: controller.signal }),
    );
    await until(() => bodies.length === 1);
    controller.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    expect(bodies).toMatchObject([
      { reference_images: [{ url: dataUrl }], reference_voices: [{ voice_id: "eve" }] },
    ]);
    await until(() => site.openSockets.size === 0);
  });

  it("gives a film five minutes", async () => {
    await using folder = await temporaryFolder();
    await using site = await localSite(() => {});
    const clock = new ManualClock();
    const running = imageToVideo.run({ image: dataUrl }, contextWith(site.origin, folder.path, { clock }));
    await until(() => site.requests.length === 1);
    const refused = expect(running).rejects.toMatchObject({ code: ErrorCode.TIMEOUT });
    await clock.advance(300_000);
    await refused;
  });

  it.each([
    ["an empty list of pictures", imageEdit, { prompt: "p", image: [] }, ErrorCode.INVALID_INPUT],
    ["unknown proportions", imageGen, { prompt: "p", aspect_ratio: "5:1" }, ErrorCode.INVALID_INPUT],
    ["an empty prompt", imageGen, { prompt: " " }, ErrorCode.INVALID_INPUT],
    ["no prompt", imageGen, {}, ErrorCode.MISSING_REQUIRED_FIELD],
    ["a missing file", imageEdit, { prompt: "p", image: ["/no/such.png"] }, ErrorCode.FILE_NOT_FOUND],
    ["a picture nobody made", imageEdit, { prompt: "p", image: ["[Image #9]"] }, ErrorCode.FILE_NOT_FOUND],
    ["a relative path", imageEdit, { prompt: "p", image: ["in.png"] }, ErrorCode.INVALID_INPUT],
    [
      "a file that is no picture",
      imageEdit,
      { prompt: "p", image: ["/etc/hostname"] },
      ErrorCode.INVALID_INPUT,
    ],
    ["seven seconds", imageToVideo, { image: dataUrl, duration: 7 }, ErrorCode.INVALID_INPUT],
    [
      "sixteen seconds",
      referenceToVideo,
      { prompt: "p", voices: ["a"], aspect_ratio: "1:1", duration: 16 },
      ErrorCode.INVALID_INPUT,
    ],
    ["nothing to refer to", referenceToVideo, { prompt: "p", aspect_ratio: "1:1" }, ErrorCode.INVALID_INPUT],
    [
      "eight pictures",
      referenceToVideo,
      { prompt: "p", images: Array(8).fill(dataUrl), aspect_ratio: "1:1" },
      ErrorCode.INVALID_INPUT,
    ],
    [
      "four voices",
      referenceToVideo,
      { prompt: "p", voices: Array(4).fill("a"), aspect_ratio: "1:1" },
      ErrorCode.INVALID_INPUT,
    ],
  ])("refuses %s", async (...[, tool, input, code]) => {
    await using folder = await temporaryFolder();
    const context = contextWith("http://127.0.0.1:1", folder.path);
    await expect(tool.run(input as JsonObject, context)).rejects.toMatchObject({ code });
  });

  it.each([
    [401, ErrorCode.PERMISSION_DENIED],
    [403, ErrorCode.PERMISSION_DENIED],
    [429, ErrorCode.RATE_LIMITED],
    [400, ErrorCode.EXECUTION_FAILED],
  ])("says what HTTP status %i means, and never the key", async (status, code) => {
    await using folder = await temporaryFolder();
    await using site = await localSite((_request, response) => {
      response.writeHead(status).end(JSON.stringify({ error: "s3cret is wrong" }));
    });
    const failure: unknown = await imageGen
      .run({ prompt: "p" }, contextWith(site.origin, folder.path))
      .catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code, details: { code: "http_failure", status } });
    expect(String(failure)).not.toContain("s3cret");
  });

  it.each(["http://10.0.0.1/x", "https://10.0.0.1/x", "http://localhost:1/x", "https://127.0.0.1:1/x"])(
    "does not fetch a picture from %s",
    async (url) => {
      await using folder = await temporaryFolder();
      await using site = await localSite(
        (_request, response) => void response.end(JSON.stringify({ data: [{ url }] })),
      );
      const running = imageGen.run({ prompt: "p" }, contextWith(site.origin, folder.path));
      await expect(running).rejects.toMatchObject({
        message: expect.stringMatching(/not fetched|may not be connected/),
      });
    },
  );

  it("runs eight calls for pictures at once and refuses the ninth", async () => {
    await using folder = await temporaryFolder();
    await using site = await localSite(() => {});
    const controller = new AbortController();
    const context = contextWith(site.origin, folder.path, { signal: controller.signal });
    const calls = Array.from({ length: 8 }, () => imageGen.run({ prompt: "p" }, context));
    const settled = Promise.allSettled(calls);
    await until(() => site.requests.length === 8);
    await expect(imageGen.run({ prompt: "p" }, context)).rejects.toMatchObject({
      code: ErrorCode.RATE_LIMITED,
      details: { kind: "concurrency_limit" },
    });
    controller.abort(new Error("enough"));
    await settled;
  });

  it("is not there without an API", async () => {
    const tools = [imageGen, imageEdit, imageToVideo, referenceToVideo];
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    const report = await session.finalize({ tools: tools.map(({ id }) => ({ id })) });
    expect(report.warnings).toContain("unavailable:GrokBuild:image_gen:image_api");
    expect(report.warnings).toContain("unavailable:GrokBuild:reference_to_video:video_api");
    const { result } = await session.execute("image_edit", {});
    expect(result).toMatchObject({ ok: false, error: { code: ErrorCode.NOT_IMPLEMENTED } });
  });
});
