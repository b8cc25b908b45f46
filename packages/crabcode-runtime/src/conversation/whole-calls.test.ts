import fc from "fast-check";
import { expect, it } from "vitest";
import type { Message, MessageBlock } from "./message.ts";
import { withWholeCalls } from "./whole-calls.ts";

const text = (value: string): MessageBlock => ({ type: "text", text: value });
const call = (id: string): MessageBlock => ({ type: "tool_use", id, name: "Bash", input: {} });
const result = (id: string): MessageBlock => ({
  type: "tool_result",
  tool_use_id: id,
  content: "done",
  is_error: false,
});
const user = (...content: MessageBlock[]): Message => ({ role: "user", content });
const agent = (...content: MessageBlock[]): Message => ({ role: "assistant", content });

/** `q` for a text, `+a` for a call, `-a` for its result, `?a` for a result that is made up. */
function drawn(messages: readonly Message[]): string[] {
  return messages.map(({ role, content }) => {
    const blocks = content.map((block) => {
      if (block.type === "text") return block.text;
      if (block.type === "tool_use") return `+${block.id}`;
      if (block.type === "tool_result") return (block.is_error ? "?" : "-") + block.tool_use_id;
      return block.type;
    });
    return `${role} ${blocks.join(" ")}`;
  });
}

it("leaves a history alone that lacks nothing", () => {
  const messages = [
    user(text("q")),
    agent(text("so"), call("a"), call("b")),
    user(result("b"), result("a"), text("hook")),
    user(text("skill")),
    agent(text("end")),
  ];
  expect(withWholeCalls(messages)).toBe(messages);
});

it.each<[string, Message[], string[]]>([
  [
    "a lost answer with calls: their results go",
    [user(text("q")), user(result("a"), text("hook")), agent(text("end"))],
    ["user q", "user hook", "assistant end"],
  ],
  ["a lost answer, and nothing but its results", [user(text("q")), user(result("a"))], ["user q"]],
  [
    "lost results, before an answer",
    [user(text("q")), agent(call("a"), call("b")), agent(text("end"))],
    ["user q", "assistant +a +b", "user ?a ?b", "assistant end"],
  ],
  [
    "lost results, before a message of the user",
    [agent(call("a")), user(text("next"))],
    ["assistant +a", "user ?a next"],
  ],
  ["lost results at the end", [agent(call("a"))], ["assistant +a", "user ?a"]],
  [
    "one result of two, and one that is repeated",
    [agent(call("a"), call("b")), user(result("b"), result("b"))],
    ["assistant +a +b", "user ?a -b"],
  ],
])("completes %s", (_, messages, whole) => {
  expect(drawn(withWholeCalls(messages))).toEqual(whole);
});

it("answers every call once and nothing else, whatever is lost, and keeps all texts", () => {
  const id = fc.constantFrom("a", "b", "c");
  const block = fc.oneof(fc.constant(text("t")), id.map(result));
  const message = fc.oneof(
    fc.array(block, { minLength: 1, maxLength: 4 }).map((blocks) => user(...blocks)),
    fc.uniqueArray(id, { maxLength: 3 }).map((ids) => agent(text("t"), ...ids.map(call))),
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
      const whole = withWholeCalls(messages);
      for (const [index, { role, content }] of whole.entries()) {
        const before = whole[index - 1];
        const calls = before?.role === "assistant" ? idsOf(before, "tool_use") : [];
        expect(idsOf({ role, content }, "tool_result").toSorted()).toEqual(calls.toSorted());
      }
      expect(idsOf(whole.at(-1), "tool_use")).toEqual([]);
      expect(idsOf(user(...whole.flatMap(({ content }) => content)), "text")).toEqual(
        idsOf(user(...messages.flatMap(({ content }) => content)), "text"),
      );
      expect(withWholeCalls(whole)).toBe(whole);
    }),
  );
});

function idsOf(message: Message | undefined, type: MessageBlock["type"]): string[] {
  return (message?.content ?? []).flatMap((block) => {
    if (block.type !== type) return [];
    return block.type === "tool_use"
      ? [block.id]
      : block.type === "tool_result"
        ? [block.tool_use_id]
        : ["t"];
  });
}
