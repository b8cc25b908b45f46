import type { HttpRoute } from "@trivium/endpoint";
import type { ConfigValues } from "../config/config-keys.ts";
import { version } from "../version.ts";

const serviceNames: Readonly<Record<ConfigValues["services"][number], string>> = {
  "grok-tools": "xai.grok.tools.v1.GrokToolsService",
  "code-mode": "codex.code_mode.v1.CodeModeHost",
  crabcode: "crabcode.CrabCodeService",
};

/** `/` of a server without conversations, or without their page. It shows nothing that needs a token. */
export function statusPage(services: ConfigValues["services"]): HttpRoute {
  const rows = services.map((service) => `<li><code>${serviceNames[service]}</code></li>`).join("");
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Trivium</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
  code { font-size: .95em }
</style>
<h1>Trivium ${version}</h1>
<p>This port serves, over gRPC, gRPC-Web and Connect:</p>
<ul>${rows}</ul>
<p>Plain HTTP: <a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>, <a href="/metrics">/metrics</a>.</p>
</html>
`;
  return {
    path: "/",
    isPublic: true,
    handle: () =>
      new Response(page, {
        headers: {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
          "x-content-type-options": "nosniff",
        },
      }),
  };
}
