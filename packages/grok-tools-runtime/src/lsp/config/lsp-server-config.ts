import { z } from "zod";

/** One language server. */
export interface LspServerConfig {
  /** Program: a path, relative to the session's folder if not absolute, or a name that is looked up in the `PATH`. */
  readonly command: string;
  readonly args: readonly string[];
  /** `socket`: the program connects to the port of this machine that it is given as `--socket=PORT`. */
  readonly transport: "stdio" | "socket";
  /** Variables besides those every command gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Language id by extension, in lower case and with its dot: `{ ".ts": "typescript" }`. */
  readonly extensions: Readonly<Record<string, string>>;
  /** For the server's `initialize`. */
  readonly initializationOptions: unknown;
  /** What the server gets when it asks for its configuration. Keys nested or with dots. */
  readonly settings: unknown;
  /** Folder of the project, absolute or relative to the session's folder. Undefined: that folder. */
  readonly workspaceFolder: string | undefined;
  /** What a server that finds no project itself is told to open. Absolute or relative to the session's folder. */
  readonly workspaceOpen: WorkspaceOpen | undefined;
  readonly startupTimeoutMs: number;
  readonly shutdownTimeoutMs: number;
  /** Start it again in the background after a crash. Otherwise the next call does. */
  readonly restartOnCrash: boolean;
  /** Failures in a row after which it is started again. */
  readonly maxRestarts: number;
}

export interface WorkspaceOpen {
  readonly solution: string | undefined;
  readonly projects: readonly string[];
}

const text = z.string().min(1);
const timeoutMs = z.int().positive();
const languages = z.record(text, text);
const workspaceOpen = z.strictObject({ solution: text.optional(), projects: z.array(text).default([]) });

/** One server in `tools.lsp.servers` or in an `lsp.json`. Keys in snake case or camel case. */
export const lspServerConfig: z.ZodType<LspServerConfig> = z
  .strictObject({
    command: text,
    args: z.array(z.string()).default([]),
    transport: z.enum(["stdio", "socket"]).default("stdio"),
    env: z.record(z.string(), z.string()).default({}),
    extensions: languages.optional(),
    extensionToLanguage: languages.optional(),
    extensionToLanguageId: languages.optional(),
    initialization_options: z.unknown().optional(),
    initializationOptions: z.unknown().optional(),
    settings: z.unknown().optional(),
    workspace_folder: text.optional(),
    workspaceFolder: text.optional(),
    workspace_open: workspaceOpen.optional(),
    workspaceOpen: workspaceOpen.optional(),
    startup_timeout: timeoutMs.optional().describe("Milliseconds. Default 15000."),
    startupTimeout: timeoutMs.optional(),
    shutdown_timeout: timeoutMs.optional().describe("Milliseconds. Default 5000."),
    shutdownTimeout: timeoutMs.optional(),
    restart_on_crash: z.boolean().optional(),
    restartOnCrash: z.boolean().optional(),
    max_restarts: z.int().nonnegative().optional(),
    maxRestarts: z.int().nonnegative().optional(),
  })
  .refine(
    ({ extensions, extensionToLanguage, extensionToLanguageId }) =>
      (extensions ?? extensionToLanguage ?? extensionToLanguageId) !== undefined,
    {
      path: ["extensions"],
      error: 'missing; it names the language of each extension: { ".ts": "typescript" }',
    },
  )
  .transform((given): LspServerConfig => {
    const open = given.workspace_open ?? given.workspaceOpen;
    return {
      command: given.command,
      args: given.args,
      transport: given.transport,
      env: given.env,
      extensions: normalised(
        given.extensions ?? given.extensionToLanguage ?? given.extensionToLanguageId ?? {},
      ),
      initializationOptions: given.initialization_options ?? given.initializationOptions,
      settings: given.settings,
      workspaceFolder: given.workspace_folder ?? given.workspaceFolder,
      workspaceOpen: open && { solution: open.solution, projects: open.projects },
      startupTimeoutMs: given.startup_timeout ?? given.startupTimeout ?? 15_000,
      shutdownTimeoutMs: given.shutdown_timeout ?? given.shutdownTimeout ?? 5_000,
      restartOnCrash: given.restart_on_crash ?? given.restartOnCrash ?? false,
      maxRestarts: given.max_restarts ?? given.maxRestarts ?? 3,
    };
  });

/** `ts` and `.TS` mean `.ts`. */
function normalised(extensions: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(extensions).map(([extension, language]) => [
      (extension.startsWith(".") ? extension : `.${extension}`).toLowerCase(),
      language,
    ]),
  );
}
