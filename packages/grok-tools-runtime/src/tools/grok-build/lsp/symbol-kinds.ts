/** Names of the protocol's kinds of symbols; the first has the number 1. */
const names = [
  "File",
  "Module",
  "Namespace",
  "Package",
  "Class",
  "Method",
  "Property",
  "Field",
  "Constructor",
  "Enum",
  "Interface",
  "Function",
  "Variable",
  "Constant",
  "String",
  "Number",
  "Boolean",
  "Array",
  "Object",
  "Key",
  "Null",
  "EnumMember",
  "Struct",
  "Event",
  "Operator",
  "TypeParameter",
] as const;

/** Name of a kind of symbol. */
export function symbolKindName(kind: number): string {
  return names[kind - 1] ?? "Symbol";
}
