import { mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { isInside } from "../paths/is-inside.ts";
import {
  MAX_MEMORY_BYTES,
  type Memory,
  type MemoryScope,
  memoryFile,
  readMemories,
} from "../prompt/memories.ts";
import { defineTool, failed, type Tool, type ToolOutcome } from "./tool.ts";

const MAX_TITLE_CHARS = 200;
const MAX_CONTENT_CHARS = 10_000;
const MAX_MEMORIES = 200;

/** What the tool is made with. */
export interface MemoryToolOptions {
  /** Makes 12 hexadecimal characters. */
  readonly newId: () => string;
  /** Folder of the user's own memories; undefined: there are only those of the project. */
  readonly userFolder: string | undefined;
}

const input = z.object({
  action: z.enum(["create", "update", "delete", "list"]),
  title: z.string().max(MAX_TITLE_CHARS).optional(),
  content: z.string().max(MAX_CONTENT_CHARS).optional(),
  memory_id: z.string().optional(),
  scope: z.enum(["project", "global"]).default("project").describe("Whose memories. Default project."),
});

type Input = z.infer<typeof input>;

/** Makes the tool with which the model remembers things beyond a conversation. */
export function createMemory({ newId, userFolder }: MemoryToolOptions): Tool {
  return defineTool({
    name: "Memory",
    description:
      "Remembers facts for later conversations, about this project or for the user in general. What is remembered is part of every later conversation; keep it short.",
    input,
    isReadOnly: false,
    isConcurrencySafe: false,
    opinion: ({ action }) => (action === "list" ? "allow" : undefined),
    check: problemOf,
    async run(call, { cwd, clock, toolbox }) {
      const { scope } = call;
      const path = memoryFile(scope, { cwd, userFolder });
      if (path === undefined) return failed("Error: this server has no folder for memories of the user");
      const root = scope === "project" ? cwd : undefined;
      if (call.action === "list") return listed(readMemories(path, root).memories, scope);
      const at = new Date(clock.now()).toISOString();
      return await toolbox.exclusively([path], async () => {
        const before = readMemories(path, root);
        const changed = change(before.memories, call, { newId, at });
        if (typeof changed === "string") return failed(`Error: ${changed}`);
        const text = `${JSON.stringify([...before.others, ...changed.memories], undefined, 2)}\n`;
        if (Buffer.byteLength(text) > MAX_MEMORY_BYTES) {
          const message = `the memories would have more than ${MAX_MEMORY_BYTES} bytes; delete some first`;
          return failed(`Error: ${message}`);
        }
        await writeMemories(path, { root, text, temporaryName: `.memories-${newId()}` });
        return { result: changed.result, isError: false };
      });
    },
  });
}

function problemOf({ action, title, content, memory_id }: Input): string | undefined {
  if (action === "create" && (isBlank(title) || isBlank(content))) return "create needs title and content";
  if ((action === "update" || action === "delete") && memory_id === undefined) {
    return `${action} needs memory_id`;
  }
  if (action === "update" && title === undefined && content === undefined) {
    return "update needs title or content";
  }
  return undefined;
}

function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === "";
}

function listed(memories: readonly Memory[], scope: MemoryScope): ToolOutcome {
  const lines = memories.map(({ id, title, content }) => `${id} [${scope}] ${title}: ${content}`);
  return { result: lines.length === 0 ? `No ${scope} memories.` : lines.join("\n"), isError: false };
}

/** The memories after a change, or why there is none. */
function change(
  before: readonly Memory[],
  { action, title, content, memory_id }: Input,
  { newId, at }: { newId: () => string; at: string },
): { readonly memories: readonly Memory[]; readonly result: string } | string {
  if (action === "create") {
    if (before.length >= MAX_MEMORIES)
      return `there are ${before.length} memories already; delete some first`;
    const id = newId();
    const made = { id, title: title ?? "", content: content ?? "", created_at: at };
    return { memories: [...before, made], result: `Memory ${id} created.` };
  }
  if (!before.some(({ id }) => id === memory_id)) return `no memory ${memory_id ?? ""}`;
  if (action === "delete") {
    return { memories: before.filter(({ id }) => id !== memory_id), result: `Memory ${memory_id} deleted.` };
  }
  const updated = {
    ...(title !== undefined && { title }),
    ...(content !== undefined && { content }),
    updated_at: at,
  };
  return {
    memories: before.map((memory) => (memory.id === memory_id ? { ...memory, ...updated } : memory)),
    result: `Memory ${memory_id} updated.`,
  };
}

/** A file that was written half would cost all memories, so the new one takes the place of the old whole. */
async function writeMemories(
  path: string,
  { root, text, temporaryName }: { root: string | undefined; text: string; temporaryName: string },
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const folder = await realpath(dirname(path));
  if (root !== undefined && !isInside(root, folder)) throw new Error(`${path} leads out of the folder`);
  const temporary = join(folder, temporaryName);
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(folder, basename(path)));
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cause;
  }
}
