/** How the fake server behaves. */
export interface FakeServerOptions {
  /** File for what it is told. */
  readonly log?: string;
  readonly start?: "crash" | "crash-once" | "hang" | "refuse";
  /** Made when it has crashed the one time it shall. */
  readonly crashFile?: string;
  readonly shutdown?: "hang";
  /** Its `textDocumentSync`. Default: whole texts, numbered. */
  readonly sync?: number | object;
  /** Sends what it finds. */
  readonly push?: boolean;
  /** Tells what it finds when it is asked. */
  readonly pull?: boolean;
  readonly capabilities?: object;
  /** Sections of the configuration that it asks for. */
  readonly configuration?: readonly string[];
  /** Writes what is no message. */
  readonly garbage?: boolean;
}
