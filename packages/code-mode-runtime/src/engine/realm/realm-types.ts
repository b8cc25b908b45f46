/** Anything that can be called, of whichever realm. */
export type Callable = (...values: never[]) => unknown;

/** What the user realm lends to the service realm: an ordinary object of the user realm with its captured intrinsics. */
export interface UserKit {
  /** A function of the user realm that forwards to `target`, which user code cannot reach. */
  wrap(target: Callable, name: string, length: number): Callable;
  /** Puts a writable, enumerable, configurable property on the global object of the user realm. */
  install(name: string, value: unknown): void;
  /** An empty object of the user realm. */
  createObject(): object;
  readonly parse: (json: string) => unknown;
  readonly promise: unknown;
  readonly withResolvers: Callable;
  readonly reject: Callable;
  readonly errors: Readonly<Record<string, Callable>>;
  readonly bigIntPrototype: object;
  readonly settledHelpers: { readonly as_settled: unknown; readonly stream_settled: unknown };
}

/** Sends one action of the program to the worker. Only primitives cross. */
export type Send = (kind: string, ...values: Primitive[]) => void;

/** A function of the worker that holds the program until its output has room. */
export interface BlockingSend {
  applySyncPromise(receiver: undefined, values: readonly Primitive[]): void;
}

/** Values that cross the border of an isolate as they are. */
export type Primitive = string | number | boolean | undefined;

/** State of the one cell that runs in the isolate, shared by the parts of the service realm. */
export interface ServiceState {
  kit: UserKit;
  send: Send;
  /** JSON text of a stored value of the session, as of the admission of the cell. */
  readStored(key: string): string | undefined;
  /** Keeps a value, or says why not. */
  store(key: string, json: string): string | undefined;
}

/** Values to text, to JSON and to error texts. Everything works on values of the user realm. */
export interface Conversions {
  /** Text conversion of `text` and `notify`. */
  readonly toText: (value: unknown) => string;
  /** JSON conversion of `store`, tool arguments and content blocks. Throws `failure` when the value has no JSON form. */
  readonly toJson: (value: unknown, failure: string) => string;
  /** The language's conversion to a string; throws for symbols, and what the script throws. */
  readonly asText: (value: unknown) => string;
  readonly toErrorText: (thrown: unknown) => string;
  /** Replaces an error that belongs to the service realm by one of the user realm. */
  readonly rebuild: (thrown: unknown) => unknown;
  /** An own property of a value that came out of `parse`; inherited ones are not seen. */
  readonly own: (value: unknown, key: string) => unknown;
  readonly parse: (json: string) => unknown;
}

/** A helper before it is wrapped. Errors that it throws are texts, unless `throwsErrors`. */
export interface Helper {
  readonly run: (first: unknown, second: unknown) => unknown;
  readonly throwsErrors?: boolean;
  readonly name?: string;
  readonly length?: number;
}

/** What the worker calls in the service realm. One cell at a time. */
export interface ServiceRealm {
  /** The channel of a cell and the realm that it gets. */
  begin(
    post: Send,
    postBlocking: BlockingSend,
    readStored: ServiceState["readStored"],
    store: ServiceState["store"],
    kit: UserKit,
    setup: string,
  ): void;
  fireTimer(timerId: number): void;
  resolveTool(callNumber: number, json: string): void;
  rejectTool(callNumber: number, message: string): void;
  end(): void;
}

/** Decoded `setup` of {@link ServiceRealm.begin}; crosses as JSON. */
export interface CellSetup {
  /** Name of the global through which the module reports its end. */
  readonly doneName: string;
  /** Name of the global that replaces `import`, when the source has a dynamic import. */
  readonly importName: string | undefined;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
}
