import { once } from "node:events";
import { finished } from "node:stream/promises";
import { setFlagsFromString } from "node:v8";
import type { CliProcess } from "../cli.ts";
import { type CodeModeHost, startCodeModeHost } from "../compose/start-code-mode-host.ts";
import { type CodeModeAddress, parseCodeModeAddress } from "../config/code-mode-address.ts";
import type { Config } from "../config/read-config.ts";
import { createPinoLogger } from "../logging/pino-logger.ts";
import { PipePair } from "../pipe-pair.ts";

/** Flags of `trivium code-mode-host`. */
export interface CodeModeHostOptions {
  /** Default: frames on standard input and output. */
  readonly listen?: string;
  readonly otelTraceListen?: string;
  readonly otelTraceExporter?: string;
}

/**
 * `trivium code-mode-host`: code mode alone, in the place of the original program.
 *
 * On a port it prints one line, the address, and runs until the first signal. On pipes it writes nothing but the
 * protocol, and runs until the other side closes them. 0 for both; 1 when the client broke the protocol.
 */
export async function codeModeHost(
  { values }: Config,
  options: CodeModeHostOptions,
  io: CliProcess,
): Promise<number> {
  const address = parseCodeModeAddress(options.listen ?? "stdio");
  const logger = createPinoLogger({ level: values["log.level"], destination: io.stderr });
  if (options.otelTraceListen !== undefined || options.otelTraceExporter !== undefined) {
    logger.warn(
      {},
      "this host exports no traces: --otel-trace-listen and --otel-trace-exporter have no effect",
    );
  }
  // The bytes of messages count as growth of the heap, which is small here: at the usual pace every large message would
  // have the garbage collector go through all of it.
  setFlagsFromString("--heap-growing-percent=200");
  await using host = startCodeModeHost(values, logger);
  // Awaited here: the host is to live until then.
  return await serve(host, address, io);
}

async function serve(host: CodeModeHost, address: CodeModeAddress, io: CliProcess): Promise<number> {
  switch (address.carrier) {
    case "stdio":
      try {
        await host.v1.serveStdio(io.pipes(), io.signal);
        return 0;
      } catch (thrown) {
        io.stderr.write(`trivium: the connection broke: ${textOf(thrown)}\n`);
        return 1;
      }
    case "grpc+stdio": {
      const { input, output } = io.pipes();
      const pipe = new PipePair(input, output);
      const gone = finished(pipe, { readable: false });
      host.attachGrpc(pipe);
      // A pipe that broke is closed as well: its client is gone either way.
      await Promise.race([gone.catch(() => {}), aborted(io.signal)]);
      return 0;
    }
    case "grpc":
      io.stdout.write(`${await host.listenGrpc(address)}\n`);
      await aborted(io.signal);
      return 0;
    case "ws": {
      const { url } = await host.listenWebSockets(address);
      io.stdout.write(`${url}\n`);
      await aborted(io.signal);
      return 0;
    }
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
