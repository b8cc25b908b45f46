/** `pnpm test:interop`: clients of other ecosystems against one running server. What is not installed is skipped, visibly. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startServerProcess } from "../src/server/server-process.ts";
import { runCodexCases } from "./codex/codex-cases.ts";

const execute = promisify(execFile);

/** One program run against the server: what it must print. */
interface InteropCase {
  readonly title: string;
  readonly command: readonly [string, ...string[]];
  readonly prints: RegExp;
}

await using server = await startServerProcess();
const address = server.url.replace("http://", "");
const services = /xai\.grok\.tools\.v1\.GrokToolsService[\s\S]*|codex\.code_mode\.v1\.CodeModeHost[\s\S]*/;

const bufCurl = ["curl", "--http2-prior-knowledge"];
const healthCheck = `${server.url}/crabcode.CrabCodeService/HealthCheck`;
const cases: InteropCase[] = [
  ...["grpc-v1", "grpc-v1alpha"].flatMap((reflection): InteropCase[] => [
    {
      title: `buf curl lists the services over reflection ${reflection}`,
      command: [
        "buf",
        ...bufCurl,
        "--protocol",
        "grpc",
        "--reflect-protocol",
        reflection,
        "--list-services",
        server.url,
      ],
      prints: services,
    },
    {
      title: `buf curl lists the methods of a service over reflection ${reflection}`,
      command: [
        "buf",
        ...bufCurl,
        "--protocol",
        "grpc",
        "--reflect-protocol",
        reflection,
        "--list-methods",
        server.url,
      ],
      prints: /SendMessage/,
    },
  ]),
  ...["grpc", "grpcweb", "connect"].map(
    (protocol): InteropCase => ({
      title: `buf curl calls without a proto file over ${protocol}`,
      command: ["buf", ...bufCurl, "--protocol", protocol, healthCheck],
      prints: /"status":\s*"ok"/,
    }),
  ),
  {
    title: "grpcurl lists the services",
    command: ["grpcurl", "-plaintext", address, "list"],
    prints: services,
  },
  {
    title: "grpcurl describes a method",
    command: ["grpcurl", "-plaintext", address, "describe", "codex.code_mode.v1.CodeModeHost.Execute"],
    prints: /rpc Execute/,
  },
  {
    title: "grpcurl calls a unary method",
    command: ["grpcurl", "-plaintext", address, "crabcode.CrabCodeService/HealthCheck"],
    prints: /"status": "ok"/,
  },
  {
    title: "grpcurl reads a server stream",
    command: [
      "grpcurl",
      "-plaintext",
      "-d",
      '{"text":"help"}',
      address,
      "crabcode.CrabCodeService/SendMessage",
    ],
    prints: /turn_complete/,
  },
];

let passed = 0;
let failed = 0;
let skipped = 0;
for (const {
  title,
  command: [program, ...parameters],
  prints,
} of cases) {
  const path = findProgram(program);
  if (path === undefined) {
    skipped += 1;
    console.log(`SKIPPED ${title}: ${program} is not installed`);
    continue;
  }
  const output = await execute(path, parameters, { timeout: 20_000 }).then(
    ({ stdout }) => stdout,
    (error: unknown) => `failed: ${String(error)}`,
  );
  if (prints.test(output)) {
    passed += 1;
    console.log(`ok      ${title}`);
  } else {
    failed += 1;
    console.log(`FAILED  ${title}:\n${output}`);
  }
}
for await (const { title, status, detail } of runCodexCases(Number(new URL(server.url).port))) {
  if (status === "passed") {
    passed += 1;
    console.log(`ok      ${title}`);
  } else if (status === "skipped") {
    skipped += 1;
    console.log(`SKIPPED ${title}: ${detail}`);
  } else {
    failed += 1;
    console.log(`FAILED  ${title}:\n${detail}`);
  }
}
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;

/** The workspace's own tools, the path, then where `go install` puts programs. */
function findProgram(name: string): string | undefined {
  const folders = [
    "node_modules/.bin",
    ...(process.env["PATH"] ?? "").split(":"),
    join(homedir(), "go", "bin"),
  ];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
