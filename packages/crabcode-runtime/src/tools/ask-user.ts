import { z } from "zod";
import { defineTool, failed, flag, type Tool } from "./tool.ts";

export const askUser: Tool = defineTool({
  name: "AskUser",
  description: "Asks the user to choose between options. Use it when you cannot go on without a decision.",
  input: z.object({
    question: z.string().min(1).describe("The question."),
    options: z.array(z.string()).describe("What can be chosen."),
    multiple: flag("More than one option may be chosen."),
  }),
  isReadOnly: true,
  isConcurrencySafe: false,
  async run({ question, options, multiple = false }, context) {
    const [only] = options;
    if (only === undefined) return failed("Error: there are no options to choose from");
    if (options.length === 1) {
      return { result: `User selected: ${only} (selected automatically: the only option)`, isError: false };
    }
    const verdict = await context.askChoice({ question, options, multiple });
    if (verdict.resolution === "expired") {
      return failed(`Cancelled: no answer within ${context.questionTimeoutSeconds} s`);
    }
    if (verdict.isCancelled) return failed("Cancelled by the user");
    const selected = `User selected: ${verdict.selected.join(", ")}`;
    const isAutomatic = verdict.resolution === "auto";
    return {
      result: isAutomatic ? `${selected} (selected automatically: nobody can be asked)` : selected,
      isError: false,
    };
  },
});
