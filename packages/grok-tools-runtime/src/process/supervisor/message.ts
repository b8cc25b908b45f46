/** Messages between the server and its helper processes. Both run the same version of this package. */

/** A process named for ever: its number is given away again, the two together are not. */
export interface ProcessName {
  readonly pid: number;
  /** Clock ticks after boot. */
  readonly startTicks: number;
}

/** One process in a report. */
export interface ReportedProcess {
  readonly pid: number;
  readonly commandLine: string;
  readonly why?: string | undefined;
}

/** What a helper is for. */
export type HelperRole = "guardian" | "supervisor" | "programs";

/** First message of every helper. */
export interface HelloMessage extends ProcessName {
  readonly type: "hello";
  readonly token: string;
  readonly isSubreaper: boolean;
  readonly landlockVersion: number;
}

export interface RunMessage {
  readonly type: "run";
  readonly commandId: string;
  readonly argv: readonly [string, ...string[]];
  /** Name of processes that are not asked to end. */
  readonly wrapper?: string | undefined;
  readonly workingDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly timeoutGraceMs: number;
  readonly logPath: string;
  /** Set: standard error goes there instead, and is kept apart. */
  readonly stderrLogPath?: string | undefined;
  readonly headBytes: number;
  readonly tailBytes: number;
  readonly maxOutputBytes: number;
  readonly keptLogBytes: number;
  readonly keepsLeftovers: boolean;
}

export interface ProgramMessage {
  readonly type: "program";
  readonly programId: number;
  readonly argv: readonly [string, ...string[]];
  readonly workingDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs?: number | undefined;
  /** Set for a program with input: `NAME=value` in its environment, by which everything it starts is found. */
  readonly treeMark?: string | undefined;
}

/** Which processes belong to a command, for a guardian whose supervisor is gone. */
export interface CleanUpMessage {
  readonly type: "clean-up";
  readonly supervisor: ProcessName;
  readonly commandId?: string | undefined;
  /** Absent once the shell has ended: its number may be another process's by now. */
  readonly shell?: ProcessName | undefined;
}

export type ToHelper =
  | RunMessage
  | ProgramMessage
  | CleanUpMessage
  | { readonly type: "start-helper"; readonly role: HelperRole; readonly token: string }
  /** Ends the running command, or what an ended one left behind. */
  | {
      readonly type: "kill";
      readonly commandId: string;
      readonly reason: KillReason;
      readonly graceMs: number;
    }
  /** The owner of an ended command lets go: what is left is killed, then comes `cleared`. */
  | { readonly type: "release"; readonly commandId: string }
  | { readonly type: "read-output"; readonly commandId: string; readonly requestId: number }
  | { readonly type: "program-credit"; readonly programId: number; readonly bytes: number }
  /** Bytes for standard input are attached. */
  | { readonly type: "program-input"; readonly programId: number }
  | { readonly type: "program-input-end"; readonly programId: number }
  | { readonly type: "program-stop"; readonly programId: number; readonly reason: "stopped" | "cancelled" };

export type KillReason = "cancelled" | "killed" | "session-ended";

export interface EndedMessage {
  readonly type: "ended";
  readonly commandId: string;
  readonly reason: "exited" | "timed-out" | "output-limit" | "spawn-failed" | KillReason;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  readonly survivors: readonly ReportedProcess[];
  readonly leftovers: readonly ReportedProcess[];
  readonly spawnError?: string | undefined;
  /** Heads and tails are attached, one output after the other. */
  readonly streams: readonly StreamReport[];
}

/** One output of a command: standard output with standard error, or each of them. */
export interface StreamReport {
  readonly totalBytes: number;
  readonly headLength: number;
  readonly tailLength: number;
  readonly logIncompleteAt?: number | undefined;
}

/** What a supervisor tells about its command. */
export type CommandMessage =
  | EndedMessage
  | { readonly type: "started"; readonly commandId: string; readonly shell: ProcessName }
  | { readonly type: "progress"; readonly commandId: string; readonly totals: readonly number[] }
  | {
      readonly type: "output";
      readonly commandId: string;
      readonly requestId: number;
      readonly streams: readonly StreamReport[];
    }
  /** Nothing of the command is left. The helper takes the next one if it `isReusable`, else its owner ends it. */
  | { readonly type: "vacated"; readonly commandId: string; readonly isReusable: boolean }
  /** A release is done; what could not be killed. */
  | { readonly type: "cleared"; readonly commandId: string; readonly survivors: readonly ReportedProcess[] };

export type FromHelper =
  | HelloMessage
  | CommandMessage
  | { readonly type: "helper-ended"; readonly token: string; readonly why: string }
  | {
      readonly type: "cleaned-up";
      readonly supervisorPid: number;
      readonly survivors: readonly ReportedProcess[];
    }
  | { readonly type: "program-started"; readonly programId: number }
  | { readonly type: "program-failed"; readonly programId: number; readonly failure: SpawnFailure }
  /** Standard output is attached. */
  | { readonly type: "program-data"; readonly programId: number }
  /** So many bytes of input have left this helper. */
  | { readonly type: "program-input-taken"; readonly programId: number; readonly bytes: number }
  /** Standard error is attached. */
  | {
      readonly type: "program-ended";
      readonly programId: number;
      readonly reason: "exited" | "timed-out" | "stopped" | "cancelled";
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly durationMs: number;
    };

/** Why a program could not be started. */
export interface SpawnFailure {
  readonly kind: "missing-folder" | "missing-program" | "refused" | "bad-argument";
  readonly message: string;
}
