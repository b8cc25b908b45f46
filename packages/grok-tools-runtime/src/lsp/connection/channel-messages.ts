import {
  AbstractMessageReader,
  AbstractMessageWriter,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageReader,
  type MessageWriter,
} from "vscode-jsonrpc/node";
import { MessageSplitter } from "./message-splitter.ts";
import type { ServerChannel } from "./server-channel.ts";

/** Messages from a channel. An unreadable stream is told once as an error; its end as a close. */
export class ChannelMessageReader extends AbstractMessageReader implements MessageReader {
  readonly #output: AsyncIterable<Uint8Array>;

  constructor({ output }: Pick<ServerChannel, "output">) {
    super();
    this.#output = output;
  }

  listen(callback: DataCallback): Disposable {
    let isListening = true;
    void this.#read((message) => {
      if (isListening) callback(message);
    });
    return {
      dispose: () => {
        isListening = false;
      },
    };
  }

  async #read(callback: DataCallback): Promise<void> {
    const splitter = new MessageSplitter();
    try {
      for await (const chunk of this.#output) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the connection checks what kind of message it is
        for (const body of splitter.push(chunk)) callback(JSON.parse(body) as Message);
      }
    } catch (cause) {
      this.fireError(cause);
    }
    this.fireClose();
  }
}

/** Messages to a channel. */
export class ChannelMessageWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #channel: Pick<ServerChannel, "write" | "endInput">;

  constructor(channel: Pick<ServerChannel, "write" | "endInput">) {
    super();
    this.#channel = channel;
  }

  write(message: Message): Promise<void> {
    const body = Buffer.from(JSON.stringify(message));
    const header = Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "latin1");
    return this.#channel.write(Buffer.concat([header, body]));
  }

  end(): void {
    this.#channel.endInput();
  }
}
