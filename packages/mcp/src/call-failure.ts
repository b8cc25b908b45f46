/** What a failed request means for the connection. */
export interface CallFailure {
  readonly reason: "refused" | "unauthorized" | "unavailable";
  readonly message: string;
  /** A new connection may help. */
  readonly mayReconnect: boolean;
  /** The server has not carried the request out. */
  readonly wasNotExecuted: boolean;
}

/** JSON-RPC errors about the request itself: it would fail again. */
const REQUEST_ERRORS: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_602]);
const CONNECTION_CLOSED = -32_000;

/** What an error of the protocol library or of `fetch` means. `isHttp`: the server is reached over HTTP. */
export function callFailureOf(thrown: unknown, isHttp: boolean): CallFailure {
  const message = messageOf(thrown);
  const code = codeOf(thrown);
  // Below zero: JSON-RPC. From 400: an HTTP status.
  if (code === undefined || code === CONNECTION_CLOSED) {
    return { ...unavailable, message, wasNotExecuted: isRefusedConnection(thrown) };
  }
  if (code === 401 || code === 403) {
    return { reason: "unauthorized", message, mayReconnect: false, wasNotExecuted: true };
  }
  // How servers say that they do not know the session: they were started anew, for example.
  if (code === 404 || code === 400) return { ...unavailable, message, wasNotExecuted: true };
  if (code >= 400) return { ...unavailable, message, wasNotExecuted: code === 503 || code === 429 };
  if (REQUEST_ERRORS.has(code)) {
    return { reason: "refused", message, mayReconnect: false, wasNotExecuted: true };
  }
  // The server itself says that it has not done it. Over HTTP a new session may change that.
  return { reason: "refused", message, mayReconnect: isHttp, wasNotExecuted: true };
}

const unavailable = { reason: "unavailable", mayReconnect: true } as const;

function codeOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  return typeof thrown.code === "number" ? thrown.code : undefined;
}

/** Errors of HTTP hold the whole answer of the server. */
const MAX_MESSAGE_CHARS = 2000;

/** What to say of an error, of bounded length. */
export function messageOf(thrown: unknown): string {
  const text = textOf(thrown);
  return text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}…`;
}

function textOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // `fetch failed` says nothing; its cause does.
  const { cause } = thrown;
  return thrown instanceof TypeError && cause instanceof Error ? cause.message : thrown.message;
}

/** Nothing has reached the server. */
function isRefusedConnection(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if (thrown.name === "TriviumError" || thrown.message === "Not connected") return true;
  const { cause } = thrown;
  return cause instanceof Error && "code" in cause && unreachable.has(String(cause.code));
}

const unreachable: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);
