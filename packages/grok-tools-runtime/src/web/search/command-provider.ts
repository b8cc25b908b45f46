import { abortReason, TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { buildShellEnvironment } from "../../shell/shell-environment.ts";
import { ToolError } from "../../tool-error.ts";
import { property } from "../call-api.ts";
import { hitsOf } from "./http-providers.ts";
import type { SearchProvider, SearchScope } from "./search-provider.ts";

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/**
 * A program that reads `{"query","allow","exclude","limit"}` from its standard input and writes
 * `[{"title","url","snippet"}]`, or an object with that list under `results`, to its standard output.
 */
export function commandProvider(argv: readonly string[], scope: SearchScope): SearchProvider {
  return {
    async search(query, { allow, exclude, limit, signal }) {
      const [program, ...rest] = argv;
      if (program === undefined) throw new TriviumError("internal", "the search command has no program");
      const running = await scope.programRunner.run({
        argv: [program, ...rest],
        workingDirectory: scope.sessionFolder,
        env: buildShellEnvironment({
          server: scope.environment,
          policy: scope.settings.environment,
          secretVariables: scope.secretVariables,
        }),
        input: "pipe",
        signal,
      });
      const request = JSON.stringify({ query, allow, exclude, limit });
      await running.input?.write(new TextEncoder().encode(`${request}\n`));
      running.input?.end();
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of running.stdout) {
        bytes += chunk.length;
        // Leaving the loop stops the program.
        if (bytes > MAX_OUTPUT_BYTES) throw failed(`wrote more than ${MAX_OUTPUT_BYTES} bytes`);
        chunks.push(chunk);
      }
      const { exitCode, reason } = await running.ended;
      if (signal.aborted) throw abortReason(signal);
      if (reason !== "exited" || exitCode !== 0) {
        throw failed(`ended with ${exitCode === null ? reason : `exit code ${exitCode}`}`);
      }
      const answer = parse(Buffer.concat(chunks).toString("utf8"));
      return { hits: hitsOf(Array.isArray(answer) ? answer : property(answer, "results"), "snippet") };
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw failed("wrote something that is not JSON", cause);
  }
}

function failed(what: string, cause?: unknown): ToolError {
  return new ToolError(ErrorCode.EXECUTION_FAILED, `the search command ${what}`, { retryable: true, cause });
}
