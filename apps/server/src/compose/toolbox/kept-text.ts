/** Beginning and end of an output, as the runner keeps them. */
export interface KeptOutput {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly omittedBytes: number;
}

/** A UTF-8 character has at most so many bytes for each UTF-16 unit it has in a string. */
const BYTES_PER_CHARACTER = 3;

/** Bytes that hold so many characters whatever they are. */
export function utf8BytesOf(characters: number): number {
  return characters * BYTES_PER_CHARACTER;
}

/** The output as text of at most `maxChars` characters: all of it, or its two ends with a mark of the cut between. */
export function keptText(
  output: KeptOutput,
  maxChars: number,
): { readonly text: string; readonly isTruncated: boolean } {
  if (output.omittedBytes === 0) {
    const text = new TextDecoder().decode(Buffer.concat([output.head, output.tail]));
    if (text.length <= maxChars) return { text, isTruncated: false };
    return {
      text: joined(text, text, { maxChars, omitted: `${text.length - maxChars} characters` }),
      isTruncated: true,
    };
  }
  const head = new TextDecoder().decode(output.head);
  const tail = new TextDecoder().decode(withoutPartialCharacter(output.tail));
  return {
    text: joined(head, tail, { maxChars, omitted: `${output.omittedBytes} bytes and more` }),
    isTruncated: true,
  };
}

function joined(
  head: string,
  tail: string,
  { maxChars, omitted }: { maxChars: number; omitted: string },
): string {
  const half = Math.floor(maxChars / 2);
  // A cut inside a surrogate pair would leave half a character on either side.
  return `${head.slice(0, half).toWellFormed()}\n[... ${omitted} left out ...]\n${tail.slice(-half).toWellFormed()}`;
}

/** A tail may begin within a character: bytes of the form 10xxxxxx belong to one that is gone. */
function withoutPartialCharacter(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}
