import { TemplateError } from "./segments.ts";

/** What template expressions compute with. A missing value is undefined. */
export type TemplateValue =
  | undefined
  | boolean
  | number
  | string
  | readonly TemplateValue[]
  | { readonly [name: string]: TemplateValue };

/** Names a template can see. */
export type TemplateScope = { readonly [name: string]: TemplateValue };

/** A parsed expression. */
export type Expression = (scope: TemplateScope) => TemplateValue;

const MAX_DEPTH = 50;

/**
 * Parses `not a.b == "x" and c | default("y")` and the like.
 *
 * @throws {@link TemplateError} for anything outside the supported subset.
 */
export function parseExpression(source: string): Expression {
  const parser = new ExpressionParser(toTokens(source));
  return parser.parse();
}

/** Whether a value counts as true in a condition. */
export function isTruthy(value: TemplateValue): boolean {
  if (Array.isArray(value) || typeof value === "string") return value.length > 0;
  if (typeof value === "object") return Object.keys(value).length > 0;
  return Boolean(value);
}

type Token = { readonly type: "name" | "string" | "number" | "operator"; readonly text: string };

const tokenPattern =
  /\s*(?:([A-Za-z_]\w*)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(\d+(?:\.\d+)?)|(==|!=|<=|>=|[<>()|.,]))/gy;

function toTokens(source: string): Token[] {
  const tokens: Token[] = [];
  const text = source.trim();
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < text.length) {
    const at = tokenPattern.lastIndex;
    const match = tokenPattern.exec(text);
    if (match === null) throw new TemplateError(`unexpected text at ${at} of \`${text}\``);
    const [, name, doubleQuoted, singleQuoted, number, operator] = match;
    const quoted = doubleQuoted ?? singleQuoted;
    if (name !== undefined) tokens.push({ type: "name", text: name });
    else if (quoted !== undefined) tokens.push({ type: "string", text: unescape(quoted) });
    else if (number !== undefined) tokens.push({ type: "number", text: number });
    else tokens.push({ type: "operator", text: operator ?? "" });
  }
  return tokens;
}

function unescape(quoted: string): string {
  return quoted.replace(/\\(.)/g, (_, character: string) => {
    if (character === "n") return "\n";
    return character === "t" ? "\t" : character;
  });
}

/** Recursive descent; from the loosest to the tightest: or, and, not, comparison, filter, path. */
class ExpressionParser {
  readonly #tokens: readonly Token[];
  #position = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Expression {
    const expression = this.#or();
    const rest = this.#tokens[this.#position];
    if (rest !== undefined) throw new TemplateError(`unexpected \`${rest.text}\``);
    return expression;
  }

  #or(): Expression {
    let left = this.#and();
    while (this.#takeName("or")) {
      const [first, second] = [left, this.#and()];
      left = (scope) => {
        const value = first(scope);
        return isTruthy(value) ? value : second(scope);
      };
    }
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.#takeName("and")) {
      const [first, second] = [left, this.#not()];
      left = (scope) => {
        const value = first(scope);
        return isTruthy(value) ? second(scope) : value;
      };
    }
    return left;
  }

  #not(): Expression {
    if (!this.#takeName("not")) return this.#comparison();
    const operand = this.#nested(() => this.#not());
    return (scope) => !isTruthy(operand(scope));
  }

  #comparison(): Expression {
    const left = this.#filtered();
    const operator = this.#takeOperator(["==", "!=", "<=", ">=", "<", ">"]);
    if (operator === undefined) return left;
    const right = this.#filtered();
    return (scope) => compare(operator, left(scope), right(scope));
  }

  #filtered(): Expression {
    let value = this.#primary();
    while (this.#takeOperator(["|"]) !== undefined) {
      const name = this.#expectName("a filter");
      const parameter = this.#filterParameter();
      const input = value;
      if (!filterNames.has(name)) throw new TemplateError(`no filter named ${name}`);
      value = (scope) => applyFilter(name, input(scope), parameter?.(scope));
    }
    return value;
  }

  #filterParameter(): Expression | undefined {
    if (this.#takeOperator(["("]) === undefined) return undefined;
    if (this.#takeOperator([")"]) !== undefined) return undefined;
    const parameter = this.#nested(() => this.#or());
    this.#expectOperator(")");
    return parameter;
  }

  #primary(): Expression {
    const token = this.#tokens[this.#position++];
    if (token === undefined) throw new TemplateError("the expression ends too early");
    if (token.type === "string") return () => token.text;
    if (token.type === "number") return () => Number(token.text);
    if (token.type === "name") return this.#path(token.text);
    if (token.text !== "(") throw new TemplateError(`unexpected \`${token.text}\``);
    const inner = this.#nested(() => this.#or());
    this.#expectOperator(")");
    return inner;
  }

  #path(root: string): Expression {
    if (root === "true" || root === "false") return () => root === "true";
    const names: string[] = [];
    while (this.#takeOperator(["."]) !== undefined) names.push(this.#expectName("an attribute"));
    return (scope) => {
      let value: TemplateValue = attribute(scope, root);
      for (const name of names) {
        if (value === undefined) throw new TemplateError(`${root} has no value to take \`${name}\` of`);
        value = attribute(value, name);
      }
      return value;
    };
  }

  #nested(parse: () => Expression): Expression {
    if (++this.#depth > MAX_DEPTH) throw new TemplateError("the expression is nested too deeply");
    const expression = parse();
    this.#depth--;
    return expression;
  }

  #takeName(name: string): boolean {
    const token = this.#tokens[this.#position];
    if (token?.type !== "name" || token.text !== name) return false;
    this.#position++;
    return true;
  }

  #takeOperator(operators: readonly string[]): string | undefined {
    const token = this.#tokens[this.#position];
    if (token?.type !== "operator" || !operators.includes(token.text)) return undefined;
    this.#position++;
    return token.text;
  }

  #expectName(what: string): string {
    const token = this.#tokens[this.#position++];
    if (token?.type !== "name") throw new TemplateError(`expected ${what}`);
    return token.text;
  }

  #expectOperator(operator: string): void {
    if (this.#takeOperator([operator]) === undefined) throw new TemplateError(`expected \`${operator}\``);
  }
}

function attribute(value: TemplateValue, name: string): TemplateValue {
  if (typeof value !== "object" || Array.isArray(value)) return undefined;
  // Own keys only: a template must not reach `constructor` and the like.
  const entry = Object.getOwnPropertyDescriptor(value, name);
  const found: TemplateValue = entry?.value;
  return found;
}

function compare(operator: string, left: TemplateValue, right: TemplateValue): boolean {
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== right;
  const areNumbers = typeof left === "number" && typeof right === "number";
  const areTexts = typeof left === "string" && typeof right === "string";
  if (!areNumbers && !areTexts) throw new TemplateError(`\`${operator}\` compares two numbers or two texts`);
  if (operator === "<") return left < right;
  if (operator === "<=") return left <= right;
  return operator === ">" ? left > right : left >= right;
}

const filterNames: ReadonlySet<string> = new Set(["default", "lower", "upper", "join", "length"]);

function applyFilter(name: string, value: TemplateValue, parameter: TemplateValue): TemplateValue {
  switch (name) {
    case "default":
      return value === undefined ? (parameter ?? "") : value;
    case "lower":
      return toText(value).toLowerCase();
    case "upper":
      return toText(value).toUpperCase();
    case "join":
      if (!Array.isArray(value)) throw new TemplateError("join needs a list");
      return value.map(toText).join(toText(parameter));
    default:
      if (Array.isArray(value) || typeof value === "string") return value.length;
      throw new TemplateError("length needs a list or a text");
  }
}

/** A value as it appears in the output; undefined is nothing. */
export function toText(value: TemplateValue): string {
  if (value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
