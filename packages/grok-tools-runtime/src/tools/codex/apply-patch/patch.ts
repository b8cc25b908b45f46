/** One file operation of a patch. Paths are as written. */
export type PatchOperation = AddFile | DeleteFile | UpdateFile;

export interface AddFile {
  readonly kind: "add";
  readonly path: string;
  /** The whole content; each line ends with `\n`. */
  readonly content: string;
}

export interface DeleteFile {
  readonly kind: "delete";
  readonly path: string;
}

export interface UpdateFile {
  readonly kind: "update";
  readonly path: string;
  /** New path of the file. */
  readonly moveTo: string | undefined;
  /** At least one. */
  readonly chunks: readonly Chunk[];
}

/** Lines to find and to change in a file. */
export interface Chunk {
  /** Line in the patch, from 1, where the patch begins with its begin marker. */
  readonly lineNumber: number;
  /** Lines to go to before the lines of the chunk are looked for, one after the other. */
  readonly contexts: readonly string[];
  /** At least one. */
  readonly lines: readonly ChunkLine[];
  /** The lines are the last of the file. */
  readonly isEndOfFile: boolean;
}

export interface ChunkLine {
  readonly kind: "context" | "remove" | "add";
  readonly text: string;
}
