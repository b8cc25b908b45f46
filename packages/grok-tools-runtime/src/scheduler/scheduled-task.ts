import { z } from "zod";
import type { CallOptions } from "../execute/call-options.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { MAX_SECONDS, MIN_SECONDS } from "./interval.ts";

/** A prompt that is run again and again. Times are milliseconds since the Unix epoch. */
export interface ScheduledTask {
  /** 12 hexadecimal digits. */
  readonly id: string;
  intervalSecs: number;
  prompt: string;
  /** It outlives the process: only durable tasks are saved. */
  readonly durable: boolean;
  /** The host runs the prompt; else a child does. */
  readonly foreground: boolean;
  /** What the call was held to that gave the prompt; its runs are held to it, too. Undefined: to nothing. */
  authorise?: CallOptions["authorise"];
  readonly createdAtMs: number;
  lastFiredAtMs: number | undefined;
  readonly expiresAtMs: number | undefined;
  /** The child of the last run. */
  lastSubagentId: string | undefined;
  /** Runs that went on in the conversation of the run before. */
  iterationsSinceFresh: number;
  /** The prompt has changed: the next run starts a conversation of its own. */
  chainResetPending: boolean;
  /** UUID v7 of the task's life. */
  readonly generation: string;
  /** Grows by 1 with every change. */
  revision: number;
}

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const optionalTime = time
  .nullish()
  .default(null)
  .transform((value) => value ?? undefined);

const saved = z.object({
  id: z.string().regex(/^[0-9a-f]{12}$/),
  intervalSecs: z
    .int()
    .min(1)
    .max(MAX_SECONDS)
    .transform((seconds) => Math.max(MIN_SECONDS, seconds)),
  prompt: z.string(),
  recurring: z.boolean().default(true),
  durable: z.boolean().default(false),
  foreground: z.boolean().default(false),
  createdAt: time,
  lastFiredAt: optionalTime,
  expiresAt: optionalTime,
  lastSubagentId: z.string().nullish(),
  iterationsSinceFresh: z.int().min(0).default(0),
  chainResetPending: z.boolean().default(false),
  // Ours, besides what the original writes: without them hosts could not tell a restored task from another one.
  generation: z.string().optional(),
  revision: z.int().min(1).optional(),
});

/** What the state of the scheduler holds. */
export interface SavedSchedule {
  readonly tasks: readonly ScheduledTask[];
  /** Belongs to the original; kept as it came. */
  readonly occurrenceJournal: JsonValue | undefined;
}

const schedule = z.object({ tasks: z.array(saved), occurrenceJournal: z.json().optional() });

/** Reads a saved schedule; undefined when it is none. Only durable, recurring tasks are taken over. */
export function readSchedule(value: JsonValue, newGeneration: () => string): SavedSchedule | undefined {
  const parsed = schedule.safeParse(value);
  if (!parsed.success) return undefined;
  const { tasks, occurrenceJournal } = parsed.data;
  return {
    tasks: tasks
      .filter(({ durable, recurring }) => durable && recurring)
      .map(({ recurring: _always, createdAt, lastFiredAt, expiresAt, lastSubagentId, ...task }) => ({
        ...task,
        createdAtMs: createdAt,
        lastFiredAtMs: lastFiredAt,
        expiresAtMs: expiresAt,
        lastSubagentId: lastSubagentId ?? undefined,
        generation: task.generation ?? newGeneration(),
        revision: task.revision ?? 1,
      })),
    occurrenceJournal,
  };
}

/** A task as it is saved. */
export function toSavedTask(task: ScheduledTask): JsonObject {
  return {
    id: task.id,
    intervalSecs: task.intervalSecs,
    prompt: task.prompt,
    recurring: true,
    durable: task.durable,
    foreground: task.foreground,
    createdAt: toTime(task.createdAtMs),
    lastFiredAt: task.lastFiredAtMs === undefined ? null : toTime(task.lastFiredAtMs),
    expiresAt: task.expiresAtMs === undefined ? null : toTime(task.expiresAtMs),
    lastSubagentId: task.lastSubagentId ?? null,
    iterationsSinceFresh: task.iterationsSinceFresh,
    chainResetPending: task.chainResetPending,
    generation: task.generation,
    revision: task.revision,
  };
}

/** Whether a task outlives its process. A check of a call does not, and no child may run without it. */
export function isLasting({ durable, foreground, authorise }: ScheduledTask): boolean {
  return durable && (foreground || authorise === undefined);
}

/** When a task is due. */
export function nextFireMs({ lastFiredAtMs, createdAtMs, intervalSecs }: ScheduledTask): number {
  return (lastFiredAtMs ?? createdAtMs) + intervalSecs * 1000;
}

/** RFC 3339, UTC. */
export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
