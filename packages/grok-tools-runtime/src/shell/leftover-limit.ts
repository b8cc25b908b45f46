/** Commands of one session that may have something left running after their end. */
export const MAX_COMMANDS_WITH_LEFTOVERS = 16;

/** What an answer says when the limit was reached. */
export const leftoversEndedNote: string = `[what the command had left running was ended: ${MAX_COMMANDS_WITH_LEFTOVERS} other commands of this session have left something running; end that first]`;
