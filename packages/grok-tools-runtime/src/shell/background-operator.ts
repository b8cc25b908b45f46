/** How a text is searched for commands that are sent to the background. */
export type OperatorRule = "current" | "legacy";

/**
 * True when a command sends part of itself to the background with a bare `&`.
 *
 * Quotes, escapes, redirections (`2>&1`, `&>`), `&&` and the bodies of here-documents do not count. A command that
 * ends with `wait` collects its children itself. The legacy rule looks at the end of the text only.
 */
export function usesBackgroundOperator(command: string, rule: OperatorRule): boolean {
  if (rule === "legacy") return /(^|[^&>])&\s*$/.test(command);
  if (/(^|[\s;&|(])wait\s*;?\s*$/.test(command)) return false;
  return new OperatorScan(command).findsOperator();
}

interface HereDocument {
  readonly word: string;
  /** `<<-`: leading tabs of the closing line do not count. */
  readonly stripsTabs: boolean;
}

/** One walk over a command. */
class OperatorScan {
  readonly #text: string;
  #position = 0;
  #pending: HereDocument[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  findsOperator(): boolean {
    while (this.#position < this.#text.length) {
      const character = this.#text.charAt(this.#position);
      if (character === "\\") this.#position += 2;
      else if (character === "'") this.#skipPast("'");
      else if (character === '"') this.#skipDoubleQuoted();
      else if (character === "\n") this.#skipLineEnd();
      else if (character === "#" && this.#isAtWordStart()) this.#skipComment();
      else if (this.#text.startsWith("<<<", this.#position)) this.#position += 3;
      else if (this.#text.startsWith("<<", this.#position)) this.#takeHereDocument();
      else if (character === "&") {
        if (this.#isBareOperator()) return true;
        this.#position += this.#text.charAt(this.#position + 1) === "&" ? 2 : 1;
      } else this.#position += 1;
    }
    return false;
  }

  #isBareOperator(): boolean {
    const before = this.#text.charAt(this.#position - 1);
    const after = this.#text.charAt(this.#position + 1);
    return before !== ">" && before !== "<" && after !== "&" && after !== ">";
  }

  #isAtWordStart(): boolean {
    return this.#position === 0 || /[\s;&|(]/.test(this.#text.charAt(this.#position - 1));
  }

  #skipComment(): void {
    const end = this.#text.indexOf("\n", this.#position);
    this.#position = end < 0 ? this.#text.length : end;
  }

  #skipPast(quote: string): void {
    const end = this.#text.indexOf(quote, this.#position + 1);
    this.#position = end < 0 ? this.#text.length : end + 1;
  }

  #skipDoubleQuoted(): void {
    this.#position += 1;
    while (this.#position < this.#text.length && this.#text.charAt(this.#position) !== '"') {
      this.#position += this.#text.charAt(this.#position) === "\\" ? 2 : 1;
    }
    this.#position += 1;
  }

  #takeHereDocument(): void {
    const match = /^<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([^\s;&|<>()'"]+))/.exec(
      this.#text.slice(this.#position),
    );
    if (match === null) {
      this.#position += 2;
      return;
    }
    const [whole, dash, single, double, bare] = match;
    this.#pending.push({ word: single ?? double ?? bare ?? "", stripsTabs: dash === "-" });
    this.#position += whole.length;
  }

  /** After a line that opened here-documents their bodies follow, one after the other. */
  #skipLineEnd(): void {
    this.#position += 1;
    for (const document of this.#pending.splice(0)) this.#skipBody(document);
  }

  #skipBody({ word, stripsTabs }: HereDocument): void {
    while (this.#position < this.#text.length) {
      const end = this.#text.indexOf("\n", this.#position);
      const line = this.#text.slice(this.#position, end < 0 ? undefined : end);
      this.#position = end < 0 ? this.#text.length : end + 1;
      if ((stripsTabs ? line.replace(/^\t+/, "") : line) === word) return;
    }
  }
}
