import { type ClientHttp2Session, connect, constants } from "node:http2";
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { CodeModeHost } from "@trivium/proto/code-mode";

const PREFIX_BYTES = 5;
/** Hosts are measured, not the windows of this client. */
const STREAM_WINDOW_BYTES = 64 * 1024 * 1024 - 1;
const CONNECTION_WINDOW_BYTES = 256 * 1024 * 1024;

type Method<Input extends DescMessage, Output extends DescMessage> = DescMethod & {
  readonly input: Input;
  readonly output: Output;
};

/** A call in progress. */
export interface Call {
  /** Settles when the call has ended with OK. Rejects with any other status, unless it was ended on this side. */
  readonly ended: Promise<void>;
  cancel(): void;
}

/** Plain gRPC over one HTTP/2 connection, with as little work on this side as it takes: the host is to be seen. */
export class GrpcConnection implements Disposable {
  readonly #session: ClientHttp2Session;
  #isDisposed = false;

  constructor(url: string) {
    this.#session = connect(url, {
      maxSessionMemory: 4000,
      settings: { initialWindowSize: STREAM_WINDOW_BYTES },
    });
    this.#session.on("error", () => {});
    this.#session.once("connect", () => this.#session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
  }

  call<Input extends DescMessage, Output extends DescMessage>(
    { name, input, output }: Method<Input, Output>,
    message: MessageInitShape<Input>,
    onMessage: (message: MessageShape<Output>) => void,
  ): Call {
    const stream = this.#session.request({
      ":method": "POST",
      ":path": `/${CodeModeHost.typeName}/${name}`,
      "content-type": "application/grpc",
      te: "trailers",
    });
    let status: unknown;
    let detail: unknown;
    let isCancelled = false;
    const frames = new Frames((bytes) => onMessage(fromBinary(output, bytes)));
    const take = (headers: Readonly<Record<string, unknown>>): void => {
      status = headers["grpc-status"] ?? status;
      detail = headers["grpc-message"] ?? detail;
    };
    stream.on("response", take).on("trailers", take);
    stream.on("data", (chunk: Buffer) => frames.push(chunk));
    stream.on("error", () => {});
    const ended = new Promise<void>((resolve, reject) => {
      stream.once("close", () => {
        if (isCancelled || this.#isDisposed || status === "0") resolve();
        else reject(new Error(`${name} ended with status ${String(status)}: ${String(detail)}`));
      });
    });
    const body = toBinary(input, create(input, message));
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt32BE(body.byteLength, 1);
    stream.end(Buffer.concat([prefix, body]));
    return {
      ended,
      cancel: () => {
        isCancelled = true;
        stream.close(constants.NGHTTP2_CANCEL);
      },
    };
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#session.destroy();
  }
}

/** Puts the messages of a response together. */
class Frames {
  readonly #onMessage: (bytes: Buffer) => void;
  #chunks: Buffer[] = [];
  #byteLength = 0;
  #wanted = PREFIX_BYTES;
  #isPrefix = true;

  constructor(onMessage: (bytes: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#byteLength += chunk.byteLength;
    while (this.#byteLength >= this.#wanted) {
      const [first = Buffer.alloc(0)] = this.#chunks;
      const all = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
      const taken = all.subarray(0, this.#wanted);
      this.#chunks = [all.subarray(this.#wanted)];
      this.#byteLength -= taken.byteLength;
      if (this.#isPrefix) this.#wanted = taken.readUInt32BE(1);
      else {
        this.#wanted = PREFIX_BYTES;
        this.#onMessage(taken);
      }
      this.#isPrefix = !this.#isPrefix;
    }
  }
}
