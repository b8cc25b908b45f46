/** How a call names its session, and what it may do when there is none. */
export interface SessionSelector {
  /** "" is the default session. */
  readonly sessionId: string;
  /** Make the session when the id is unknown (D10). */
  readonly create?: boolean;
  /** Folder of a session to be made; must agree with the one of an existing session. */
  readonly cwd?: string;
}

/** The session a call was resolved to. */
export interface SessionReference {
  readonly sessionId: string;
}
