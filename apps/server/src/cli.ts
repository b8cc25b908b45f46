import type { Readable, Writable } from "node:stream";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { CodeModeHostOptions } from "./commands/code-mode-host.ts";
import { configRows, formatConfig } from "./commands/config-print.ts";
import { nearest } from "./config/nearest.ts";
import { type Config, readConfig } from "./config/read-config.ts";
import { version } from "./version.ts";

/** What a command may use of the process it runs in. */
export interface CliProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
  /** Standard input and output as bytes, for commands that speak a protocol there. They own them from then on. */
  readonly pipes: () => { readonly input: Readable; readonly output: Writable };
  /** Aborts with the first SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
}

type ConfigOptions = {
  readonly listen?: string;
  readonly workspace?: string;
  readonly dataDir?: string;
  readonly config?: string;
  readonly set?: readonly string[];
};

/** Exit codes: it went well, it failed, it was called wrongly. */
const OK = 0;
const FAILED = 1;
const USAGE = 2;

/** Runs one command line and gives the exit code. Everything it prints goes through `io`. */
export async function runCli(parameters: readonly string[], io: CliProcess): Promise<number> {
  let exitCode = OK;
  const program = new Command("trivium")
    .description("Real servers for three agent contracts, on one port")
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .addHelpText(
      "after",
      "\nExit codes: 0 it went well, 1 it failed, 2 it was called wrongly or the configuration is unusable.",
    );
  configured(
    program.command("serve", { isDefault: true }).description("run the combined server (default)"),
  ).action(async (options: ConfigOptions) => {
    const { serve } = await import("./commands/serve.ts");
    exitCode = await serve(effectiveConfig(options, io), io);
  });
  configured(program.command("doctor").description("check what the server needs; the exit code tells"))
    .option("--json", "print the results as JSON")
    .action(async (options: ConfigOptions & { json?: boolean }) => {
      const { doctor } = await import("./commands/doctor.ts");
      exitCode = await doctor(effectiveConfig(options, io), { io, isJson: options.json === true });
    });
  fileAndSettings(
    program
      .command("code-mode-host")
      .description("run code mode alone, in the place of Codex's codex-code-mode-host"),
  )
    .addOption(
      new Option(
        "--listen <url>",
        "stdio (default), grpc+stdio, grpc://IP:PORT or ws://IP:PORT; port 0 takes a free one",
      ).argParser((url: string, before: string | undefined) => {
        if (before !== undefined) throw new InvalidArgumentError("It may be given once.");
        return url;
      }),
    )
    .addOption(new Option("--otel-trace-listen <url>", "accepted for the original's sake, without effect"))
    .addOption(new Option("--otel-trace-exporter <url>", "accepted for the original's sake, without effect"))
    .action(async (options: CodeModeHostOptions & Pick<ConfigOptions, "config" | "set">) => {
      const { codeModeHost } = await import("./commands/code-mode-host.ts");
      const { config: file, set = [] } = options;
      const configured = effectiveConfig({ ...(file !== undefined && { config: file }), set }, io);
      exitCode = await codeModeHost(configured, options, io);
    });
  configured(
    program
      .command("import-sessions")
      .argument("[folder]", "where they are; the folder .crabcode in your home when absent")
      .description("take over sessions of crabcode while the server is stopped"),
  )
    .option("--json", "print the results as JSON")
    .action(async (folder: string | undefined, options: ConfigOptions & { json?: boolean }) => {
      const { runImport } = await import("./commands/import-sessions.ts");
      exitCode = await runImport(effectiveConfig(options, io), { folder, isJson: options.json === true }, io);
    });
  const config = program.command("config").description("the configuration of the server");
  configured(
    config
      .command("print")
      .description("the effective configuration with the origin of each value, secrets masked"),
  )
    .option("--json", "print as JSON")
    .action((options: ConfigOptions & { json?: boolean }) => {
      const rows = configRows(effectiveConfig(options, io));
      io.stdout.write(`${options.json === true ? JSON.stringify(rows, undefined, 2) : formatConfig(rows)}\n`);
    });
  const [command] = parameters;
  const names = [...program.commands.map((known) => known.name()), "help"];
  if (command !== undefined && !command.startsWith("-") && !names.includes(command)) {
    const suggestion = nearest(command, names);
    const hint = suggestion === undefined ? `there are: ${names.join(", ")}` : `did you mean ${suggestion}`;
    io.stderr.write(`trivium: there is no command ${command}; ${hint}\n`);
    return USAGE;
  }
  try {
    await program.parseAsync(parameters, { from: "user" });
    return exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? OK : USAGE;
    io.stderr.write(`trivium: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    return thrown instanceof Error && thrown.name === "ConfigError" ? USAGE : FAILED;
  }
}

function configured(command: Command): Command {
  return fileAndSettings(
    command
      .addOption(new Option("--listen <host:port>", "address and port; port 0 takes a free one"))
      .addOption(new Option("--workspace <folder>", "folder the tools and agents work in"))
      .addOption(new Option("--data-dir <folder>", "folder for sessions, logs and databases")),
  );
}

function fileAndSettings(command: Command): Command {
  return command
    .addOption(new Option("--config <file>", "configuration file instead of trivium.json"))
    .addOption(
      new Option("--set <key=value>", "any setting; may be repeated")
        .default([], "nothing")
        .argParser((text: string, before: string[]) => [...before, text]),
    );
}

function effectiveConfig(options: ConfigOptions, { env, folder }: CliProcess): Config {
  const flags = (options.set ?? []).map((assignment) => {
    const at = assignment.indexOf("=");
    const name = at < 0 ? assignment : assignment.slice(0, at);
    return { name, text: at < 0 ? "true" : assignment.slice(at + 1), flag: `--set ${name}` };
  });
  const named = [
    ["listen", options.listen, "--listen"],
    ["workspace", options.workspace, "--workspace"],
    ["dataDir", options.dataDir, "--data-dir"],
  ] as const;
  for (const [name, text, flag] of named) if (text !== undefined) flags.push({ name, text, flag });
  return readConfig({ flags, file: options.config, env, folder });
}
