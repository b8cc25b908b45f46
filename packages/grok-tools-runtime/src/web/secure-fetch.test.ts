import { describe, expect, it } from "vitest";
import { fetchPage, type PageAnswer } from "./fetch-page.ts";
import { sendRequest } from "./send-request.ts";
import { secureSite } from "./testing/secure-site.ts";
import { siteCertificate } from "./testing/site-certificate.ts";
import { webFetchParams } from "./web-fetch-params.ts";

const signal = new AbortController().signal;

interface FetchOptions {
  readonly proxy: string;
  readonly addresses?: readonly string[];
  readonly domains?: readonly string[];
  /** Null: only the usual certificates. */
  readonly ca?: string | null;
}

function fetchFrom(address: string, options: FetchOptions): Promise<PageAnswer> {
  const { proxy, addresses = ["93.184.216.34"], domains = ["site.example"], ca = siteCertificate } = options;
  const params = webFetchParams.schema.parse({ allowed_domains: domains, proxy_endpoint: proxy });
  const access = { resolve: () => Promise.resolve(addresses), ca: ca ?? undefined };
  return fetchPage({ url: new URL(address), params, access, signal });
}

describe("fetching over HTTPS", () => {
  it.each([
    [["93.184.216.34"], "93.184.216.34:443"],
    [["2606:2800::1"], "[2606:2800::1]:443"],
  ])("checks the certificate of the name, whatever address %j it has", async (addresses, tunnel) => {
    await using site = await secureSite((_path, response) => void response.end("hello"));
    const answer = await fetchFrom("https://site.example/a?b", { ...site, addresses });
    expect(answer).toMatchObject({ kind: "page", status: 200, body: Buffer.from("hello") });
    expect(site.tunnels).toEqual([tunnel]);
    expect(site.requests).toEqual(["site.example/a?b"]);
  });

  it("follows a redirect on the same host, and makes it secure again", async () => {
    await using site = await secureSite((path, response) => {
      if (path === "/new") response.end("moved");
      else response.writeHead(302, { location: "http://site.example/new" }).end();
    });
    const answer = await fetchFrom("https://site.example/old", site);
    expect(answer).toMatchObject({ kind: "page", url: new URL("https://site.example/new") });
    expect(site.tunnels).toHaveLength(2);
  });

  it("does not follow a redirect out of the listed part of a host", async () => {
    await using site = await secureSite((_path, response) => {
      response.writeHead(302, { location: "/private" }).end();
    });
    const answer = await fetchFrom("https://site.example/docs/a", {
      ...site,
      domains: ["site.example/docs"],
    });
    expect(answer).toEqual({ kind: "domain-not-allowed", host: "site.example" });
    expect(site.requests).toEqual(["site.example/docs/a"]);
  });

  it("stops at the eleventh redirect", async () => {
    await using site = await secureSite((_path, response) => {
      response.writeHead(302, { location: "/again" }).end();
    });
    await expect(fetchFrom("https://site.example/", site)).rejects.toMatchObject({
      kind: "failedPrecondition",
    });
    expect(site.requests).toHaveLength(11);
  });

  it.each([
    ["of another name", "https://www.site.example/", siteCertificate],
    ["that nobody has signed", "https://site.example/", null],
  ])("sends nothing to a site with a certificate %s", async (_what, address, ca) => {
    await using site = await secureSite((_path, response) => void response.end("hello"));
    await expect(fetchFrom(address, { ...site, domains: ["*"], ca })).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(/cannot reach .*(ALTNAME|SIGNED|CERT)/),
    });
    expect(site.requests).toEqual([]);
  });

  it("connects to the checked address without a proxy too", async () => {
    await using site = await secureSite((_path, response) => void response.end("hello"));
    const url = new URL(`https://site.example:${site.port}/x`);
    await using response = await sendRequest({ url, addresses: ["127.0.0.1"], ca: siteCertificate, signal });
    expect(response.status).toBe(200);
    expect(site.requests).toEqual([`site.example:${site.port}/x`]);
  });
});
