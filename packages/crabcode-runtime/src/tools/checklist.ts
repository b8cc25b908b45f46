import { z } from "zod";
import { defineTool, failed, type Tool, type ToolOutcome, wholeNumber } from "./tool.ts";

interface Checklist {
  readonly id: string;
  readonly title: string;
  items: { readonly text: string; isDone: boolean }[];
}

const input = z.object({
  action: z.enum(["create", "update", "check", "uncheck", "list", "clear"]),
  title: z.string().optional(),
  items: z.array(z.string()).optional().describe("Items of a new list, or to add with update."),
  checklist_id: z.string().optional(),
  item: wholeNumber("Number of an item, counted from 1."),
  remove_items: z.array(z.int()).optional().describe("Numbers of items to remove with update."),
});

type Input = z.infer<typeof input>;

/**
 * Makes the Checklist tool of one session. Its lists live in memory, as long as the session is loaded.
 *
 * @param newId makes 8 hexadecimal characters
 */
export function createChecklist(newId: () => string): Tool {
  const lists = new Map<string, Checklist>();
  return defineTool({
    name: "Checklist",
    description: "Keeps lists of what is to be done and what is done. Changes no files.",
    input,
    isReadOnly: false,
    isConcurrencySafe: false,
    opinion: () => "allow",
    check: ({ action, title, items, checklist_id, item }) => {
      if (action === "create" && (title === undefined || items === undefined)) {
        return "create needs title and items";
      }
      const needsList = action === "update" || action === "check" || action === "uncheck";
      if (needsList && checklist_id === undefined) return `${action} needs checklist_id`;
      const needsItem = action === "check" || action === "uncheck";
      return needsItem && item === undefined ? `${action} needs item` : undefined;
    },
    run: (call) => Promise.resolve(runAction(lists, call, newId)),
  });
}

function runAction(lists: Map<string, Checklist>, call: Input, newId: () => string): ToolOutcome {
  const { action, checklist_id, item = 0 } = call;
  if (action === "create") {
    const items = (call.items ?? []).map((text) => ({ text, isDone: false }));
    const list = { id: newId(), title: call.title ?? "", items };
    lists.set(list.id, list);
    return shown([list]);
  }
  if (action === "list" && checklist_id === undefined) return shown([...lists.values()]);
  if (action === "clear" && checklist_id === undefined) {
    lists.clear();
    return { result: "All checklists are cleared.", isError: false };
  }
  const list = lists.get(checklist_id ?? "");
  if (list === undefined) return failed(`Error: no checklist ${checklist_id ?? ""}`);
  if (action === "clear") {
    lists.delete(list.id);
    return { result: `Checklist ${list.id} is cleared.`, isError: false };
  }
  if (action === "update") {
    const removed = new Set(call.remove_items);
    list.items = list.items.filter((_, index) => !removed.has(index + 1));
    list.items.push(...(call.items ?? []).map((text) => ({ text, isDone: false })));
  } else if (action === "check" || action === "uncheck") {
    const entry = list.items[item - 1];
    if (entry === undefined)
      return failed(`Error: checklist ${list.id} has ${list.items.length} items, not ${item}`);
    entry.isDone = action === "check";
  }
  return shown([list]);
}

function shown(lists: readonly Checklist[]): ToolOutcome {
  if (lists.length === 0) return { result: "There are no checklists.", isError: false };
  return { result: lists.map(render).join("\n\n"), isError: false };
}

function render({ id, title, items }: Checklist): string {
  const lines = items.map(({ text, isDone }, index) => `${index + 1}. [${isDone ? "x" : " "}] ${text}`);
  const doneCount = items.filter(({ isDone }) => isDone).length;
  return [`${title} (${id})`, ...lines, `(${doneCount}/${items.length} completed)`].join("\n");
}
