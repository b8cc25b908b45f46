import { describe, expect, it } from "vitest";
import { testRuntime } from "../testing/test-runtime.ts";
import { askUserQuestion } from "../tools/grok-build/ask-user-question/ask-user-question.ts";
import type { AskedChoice, ChoiceAsker, ChoiceReply } from "./choice-asker.ts";

const questions = [
  {
    question: "Which colour?",
    multi_select: true,
    options: [
      { label: "Red", description: "like fire" },
      { label: "Red", description: "" },
      { label: "Blue", description: "" },
    ],
  },
  { question: "Which size?", options: [{ label: "Large", description: "" }] },
];

class ScriptedAsker implements ChoiceAsker {
  readonly asked: AskedChoice[] = [];
  readonly #replies: ChoiceReply[];

  constructor(...replies: ChoiceReply[]) {
    this.#replies = replies;
  }

  choose(choice: AskedChoice): Promise<ChoiceReply> {
    this.asked.push(choice);
    const reply = this.#replies.shift();
    return reply === undefined ? Promise.reject(new Error("asked too often")) : Promise.resolve(reply);
  }
}

/** What the model reads when a session whose questions go to `asker` asks. */
async function textOf(asker: ChoiceAsker, input: object = { questions }): Promise<string> {
  await using test = await testRuntime([askUserQuestion]);
  const session = test.runtime.sessions.session("s", "finalize");
  await session.finalize({ tools: [{ id: "GrokBuild:ask_user_question" }] }, { choiceAsker: asker });
  const { result } = await session.execute("ask_user_question", JSON.stringify(input), { callId: "c1" });
  if (!result.ok) throw result.error;
  return result.promptText;
}

const chosen = (...labels: string[]): ChoiceReply => ({ type: "chosen", labels });

describe("questions to people who are elsewhere", () => {
  it("are asked one after the other, with what the choices mean", async () => {
    const asker = new ScriptedAsker(chosen("Red", "Blue"), chosen("Large"));
    const text = await textOf(asker);
    expect(text).toContain('"Which colour?"="Red, Blue"');
    expect(text).toContain('"Which size?"="Large"');
    expect(asker.asked).toMatchObject([
      {
        callId: "c1",
        number: 1,
        question: "Which colour?\n- Red: like fire",
        options: ["Red", "Blue"],
        isMultiple: true,
      },
      { callId: "c1", number: 2, question: "Which size?", options: ["Large"], isMultiple: false },
    ]);
  });

  it("end when one is given up, and keep the answers so far", async () => {
    expect(await textOf(new ScriptedAsker({ type: "cancelled" }))).toContain("declined to answer these");
    const text = await textOf(new ScriptedAsker(chosen("Blue"), { type: "cancelled" }));
    expect(text).toContain("Stop asking");
    expect(text).toContain("- Which colour?\n  Answer: Blue");
  });

  it("end when time is up, and keep the answers so far", async () => {
    expect(await textOf(new ScriptedAsker({ type: "expired" }))).toContain("no answer came in time");
    const text = await textOf(new ScriptedAsker(chosen("Blue"), { type: "expired" }));
    expect(text).toContain('"Which colour?"="Blue"');
    expect(text).not.toContain("Which size?");
  });

  it("stay in the session's own list when one has no choices", async () => {
    const open = { questions: [{ question: "Why?", options: [] }] };
    expect(await textOf(new ScriptedAsker(), open)).toContain("no user available");
  });
});
