/** Reads a stream to its end. */
export async function readAll<Message>(messages: AsyncIterable<Message>): Promise<Message[]> {
  const all: Message[] = [];
  for await (const message of messages) all.push(message);
  return all;
}

/** Reads the first message of a stream and leaves it. */
export async function readFirst<Message>(messages: AsyncIterable<Message>): Promise<Message> {
  for await (const message of messages) return message;
  throw new Error("the stream ended without a message");
}

/** The status a promise rejects with. */
export async function statusOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error("the call succeeded");
    },
    (error: unknown) => error,
  );
}
