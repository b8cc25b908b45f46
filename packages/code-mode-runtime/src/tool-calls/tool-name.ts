/** A tool as clients name it. */
export interface ToolReference {
  readonly name: string;
  /** Absent, empty and `functions` are the same default namespace. */
  readonly namespace: string | undefined;
}

/** One text for all spellings of a tool's name. */
export function canonicalToolName({ name, namespace }: ToolReference): string {
  const isDefault = namespace === undefined || namespace === "" || namespace === "functions";
  return JSON.stringify([isDefault ? "" : namespace, name]);
}
