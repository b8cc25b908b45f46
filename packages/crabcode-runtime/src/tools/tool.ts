import type { Clock } from "@trivium/core";
import type { CrabcodeSessionEvent } from "@trivium/proto/crabcode-events";
import { z } from "zod";
import type { ToolInput } from "../conversation/message.ts";
import type { ChoiceVerdict } from "../gates/question-registry.ts";
import type { ToolboxPort } from "../ports/toolbox-port.ts";

/** What a call leaves behind. */
export interface ToolOutcome {
  /** For the model. */
  readonly result: string;
  readonly isError: boolean;
  /** A richer text for people. */
  readonly display?: string;
  /** Structured result, for code that calls tools. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The turn ends with this step. */
  readonly endsTurn?: boolean;
}

/** A choice as a tool asks it. */
export interface ToolQuestion {
  readonly question: string;
  readonly options: readonly string[];
  readonly multiple: boolean;
}

/** A program for a code cell. */
export interface CellProgram {
  readonly code: string;
  /** Time until the output so far is given, 0 to 60 000. */
  readonly yieldTimeMs: number;
  /** About four bytes each, 0 to 25 000. */
  readonly maxOutputTokens: number;
}

/** How a cell is looked at. */
export interface CellLookOptions extends Omit<CellProgram, "code"> {
  /** End it instead of waiting for it. */
  readonly terminate: boolean;
}

/** The code cells of a loop, for one call. */
export interface CellCalls {
  start(program: CellProgram): Promise<ToolOutcome>;
  look(cellId: string, options: CellLookOptions): Promise<ToolOutcome>;
}

/** What a running call may use. */
export interface ToolContext {
  readonly toolbox: ToolboxPort;
  /** Where the target of the call leads, symbolic links resolved: the path that permission was given for. */
  readonly targetPath: string | undefined;
  readonly clock: Clock;
  /** Absolute. */
  readonly cwd: string;
  /** Variables for commands. */
  readonly environment: Readonly<Record<string, string>>;
  readonly toolUseId: string;
  readonly agentId: string | null;
  /** The turn or run of the call. */
  readonly operationId: string;
  /** False: nobody answers questions. */
  readonly isInteractive: boolean;
  /** Aborts on interrupt; the call has a second to end then. */
  readonly signal: AbortSignal;
  /** Publishes an event of this call. */
  emit(event: CrabcodeSessionEvent): void;
  /** Asks the people of this session. */
  askChoice(question: ToolQuestion): Promise<ChoiceVerdict>;
  /** How long questions wait, in seconds. */
  readonly questionTimeoutSeconds: number;
  /** Absent: there are no code cells here. */
  readonly cells?: CellCalls | undefined;
  /** The model asks for another mode; tells whether the session switched by itself. */
  requestMode(mode: "agent" | "plan", explanation: string): boolean;
}

/** What a check of the arguments may look at beside them. */
export interface ToolState {
  readonly mode: "agent" | "plan";
}

/** The file or folder a call is about; the permission check looks at where it leads. */
export interface CallTarget {
  /** As written. */
  readonly path: string;
  /** True for a folder whose content the call is about. */
  readonly isFolder: boolean;
}

/** A call whose arguments are in order. */
export interface PreparedCall {
  readonly target: CallTarget | undefined;
  /** The tool's own wish for its permission. */
  readonly opinion: "allow" | "ask" | "deny" | undefined;
  run(context: ToolContext): Promise<ToolOutcome>;
}

/** Why arguments cannot be used. */
export interface InputProblem {
  readonly problem: string;
}

/** One tool of a session. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of type `object`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Where it comes from: `builtin`, `mcp:<server>` or `skill`. */
  readonly source: string;
  /** Changes nothing: allowed without asking, offered in plan mode. */
  readonly isReadOnly: boolean;
  /** May run beside other such calls of a step. */
  readonly isConcurrencySafe: boolean;
  /** Checks arguments by themselves, without looking at files. */
  prepare(input: ToolInput, state: ToolState): PreparedCall | InputProblem;
}

/** How a tool of our own is written down. */
export interface ToolDefinition<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** Default `builtin`. */
  readonly source?: string;
  /** Other names a model may give a property, tried in order when the property itself is absent. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  readonly isReadOnly: boolean;
  readonly isConcurrencySafe: boolean;
  target?(input: Input): CallTarget;
  opinion?(input: Input): "allow" | "ask" | "deny" | undefined;
  /** What the schema cannot say. Returns the problem. */
  check?(input: Input, state: ToolState): string | undefined;
  run(input: Input, context: ToolContext): Promise<ToolOutcome>;
}

/** Makes a tool that checks its arguments before it runs. */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { name, description, input: schema, aliases, isReadOnly, isConcurrencySafe } = definition;
  return {
    name,
    description,
    inputSchema: z.toJSONSchema(schema),
    source: definition.source ?? "builtin",
    isReadOnly,
    isConcurrencySafe,
    prepare(written, state) {
      const parsed = schema.safeParse(withoutAliases(written, aliases ?? {}));
      if (!parsed.success) return { problem: describe(parsed.error) };
      const problem = definition.check?.(parsed.data, state);
      if (problem !== undefined) return { problem };
      return {
        target: definition.target?.(parsed.data),
        opinion: definition.opinion?.(parsed.data),
        run: (context) => definition.run(parsed.data, context),
      };
    },
  };
}

/** A failed call, with the text for the model. */
export function failed(result: string): ToolOutcome {
  return { result, isError: true };
}

/** A whole number; a decimal string counts as one. */
export function wholeNumber(description: string): z.ZodOptional<z.ZodType<number>> {
  const fromText = (value: unknown): unknown =>
    typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  return z.preprocess(fromText, z.int()).describe(description).optional();
}

/** True or false; the words count too. */
export function flag(description: string): z.ZodOptional<z.ZodType<boolean>> {
  const fromText = (value: unknown): unknown => (value === "true" ? true : value === "false" ? false : value);
  return z.preprocess(fromText, z.boolean()).describe(description).optional();
}

function withoutAliases(input: ToolInput, aliases: Readonly<Record<string, readonly string[]>>): ToolInput {
  const named: Record<string, unknown> = { ...input };
  for (const [property, others] of Object.entries(aliases)) {
    if (named[property] !== undefined) continue;
    const other = others.find((alias) => input[alias] !== undefined);
    if (other !== undefined) named[property] = input[other];
  }
  return named;
}

function describe(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`))
    .join("; ");
}
