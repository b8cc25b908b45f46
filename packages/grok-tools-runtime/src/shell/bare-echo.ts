const MAX_CHARACTERS = 512;

/** True for an `echo` or `printf` of literal text and nothing else: a note to the reader, not work. */
export function isBareEcho(command: string): boolean {
  const text = command.trim();
  return text.length < MAX_CHARACTERS && /^(?:echo|printf)(?:[ \t][^;|&<>$`()\n]*)?$/.test(text);
}
