import { OneAtATime } from "../gates/one-at-a-time.ts";
import type { AskOptions, ChoiceVerdict, PermissionVerdict } from "../gates/question-registry.ts";
import type { LoopQuestions } from "../turn/loop-deps.ts";

type PermissionRequest = Parameters<LoopQuestions["askPermission"]>[0];
type ChoiceRequest = Parameters<LoopQuestions["askChoice"]>[0];

const notAsked: PermissionVerdict = {
  isAllowed: false,
  alwaysAllow: false,
  feedback: undefined,
  resolution: "cancelled",
};

/** The questions of one loop and its cells: of those for permission one is open at a time. */
export class QuestionQueue implements LoopQuestions {
  readonly #questions: LoopQuestions;
  readonly #turns = new OneAtATime();

  constructor(questions: LoopQuestions) {
    this.#questions = questions;
  }

  announce(agentId: string | null, toolUseIds: readonly string[]): Disposable {
    return this.#questions.announce(agentId, toolUseIds);
  }

  async askPermission(request: PermissionRequest, options: AskOptions): Promise<PermissionVerdict> {
    try {
      return await this.#turns.run(options.signal, () => this.#questions.askPermission(request, options));
    } catch (thrown) {
      if (options.signal.aborted) return notAsked;
      throw thrown;
    }
  }

  askChoice(request: ChoiceRequest, options: AskOptions): Promise<ChoiceVerdict> {
    return this.#questions.askChoice(request, options);
  }

  refuseUnasked(...question: Parameters<LoopQuestions["refuseUnasked"]>): PermissionVerdict {
    return this.#questions.refuseUnasked(...question);
  }

  chooseUnasked(...question: Parameters<LoopQuestions["chooseUnasked"]>): ChoiceVerdict {
    return this.#questions.chooseUnasked(...question);
  }
}

/** The questions of one cell, whose timer stands still while one of them is open. */
export function pausingQuestions(
  questions: LoopQuestions,
  cell: { pause(): void; resume(): void },
): LoopQuestions {
  const paused = async <Verdict>(ask: () => Promise<Verdict>): Promise<Verdict> => {
    cell.pause();
    try {
      return await ask();
    } finally {
      cell.resume();
    }
  };
  return {
    announce: (agentId, toolUseIds) => questions.announce(agentId, toolUseIds),
    askPermission: (request, options) => paused(() => questions.askPermission(request, options)),
    askChoice: (request, options) => paused(() => questions.askChoice(request, options)),
    refuseUnasked: (request, operation) => questions.refuseUnasked(request, operation),
    chooseUnasked: (request, operation) => questions.chooseUnasked(request, operation),
  };
}
