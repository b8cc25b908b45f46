/**
 * The peer broke the protocol, or its pipe broke in the middle of a frame: the connection ends without a word.
 *
 * The message is for the log.
 */
export class ProtocolError extends Error {
  override readonly name: string = "ProtocolError";
}
