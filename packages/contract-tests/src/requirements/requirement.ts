/** One behaviour of a contract that a scenario proves. */
export interface Requirement {
  /** Where the contract or our documents say so. */
  readonly source: string;
  readonly behaviour: string;
}

/** Requirements of one contract by id. */
export type Requirements = Readonly<Record<string, Requirement>>;
