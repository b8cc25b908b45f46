import { once } from "node:events";
import type { CliProcess } from "../cli.ts";
import { startServer } from "../compose/start-server.ts";
import type { Config } from "../config/read-config.ts";
import { createPinoLogger } from "../logging/pino-logger.ts";
import { version } from "../version.ts";

/** `trivium serve`: runs until the first signal, then drains. */
export async function serve({ values }: Config, io: CliProcess): Promise<number> {
  const logger = createPinoLogger({ level: values["log.level"], destination: io.stderr });
  const server = await startServer(values, { env: io.env, logger });
  try {
    io.stdout.write(`trivium ${version} listens on ${server.url}\n`);
    logger.info(
      {
        url: server.url,
        services: values.services,
        workspace: values.workspace,
        dataDir: values.dataDir,
        containment: server.containment,
        isTokenRequired: values.token !== undefined,
      },
      "listening",
    );
    if (!io.signal.aborted) await once(io.signal, "abort");
    logger.info({ drainMs: values["limits.drainMs"] }, "draining");
  } finally {
    await server[Symbol.asyncDispose]();
  }
  logger.info({}, "stopped");
  return 0;
}
