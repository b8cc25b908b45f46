import { promisify } from "node:util";
import { inflateRaw } from "node:zlib";

const inflate = promisify(inflateRaw);

/** APPNOTE.TXT 4.3: signatures and sizes of the records that are read. */
const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT_BYTES = 0xffff;
const METHOD_STORED = 0;
const METHOD_DEFLATED = 8;

interface ZipEntry {
  readonly method: number;
  readonly compressedBytes: number;
  readonly localOffset: number;
}

/** A ZIP archive in memory. Encrypted and 64-bit archives are not read. */
export class ZipArchive {
  readonly #bytes: Buffer;
  readonly #entries: ReadonlyMap<string, ZipEntry>;

  private constructor(bytes: Buffer, entries: ReadonlyMap<string, ZipEntry>) {
    this.#bytes = bytes;
    this.#entries = entries;
  }

  /**
   * Undefined when the bytes are no archive.
   *
   * @throws RangeError when it has more than `maxEntries`.
   */
  static parse(bytes: Buffer, maxEntries: number): ZipArchive | undefined {
    const end = findEnd(bytes);
    if (end === undefined) return undefined;
    const entries = new Map<string, ZipEntry>();
    let at = bytes.readUInt32LE(end + 16);
    const entryCount = bytes.readUInt16LE(end + 10);
    if (entryCount > maxEntries) throw new RangeError(`it has more than ${maxEntries} parts`);
    for (let left = entryCount; left > 0; left -= 1) {
      if (at + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(at) !== ENTRY_SIGNATURE) return undefined;
      const nameBytes = bytes.readUInt16LE(at + 28);
      entries.set(bytes.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes), {
        method: bytes.readUInt16LE(at + 10),
        compressedBytes: bytes.readUInt32LE(at + 20),
        localOffset: bytes.readUInt32LE(at + 42),
      });
      at += ENTRY_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    }
    return new ZipArchive(bytes, entries);
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /**
   * Content of an entry; undefined when there is none or it is damaged.
   *
   * @throws RangeError when it has more than `maxBytes`.
   */
  async read(name: string, maxBytes: number): Promise<Buffer | undefined> {
    const entry = this.#entries.get(name);
    const packed = entry === undefined ? undefined : this.#packed(entry);
    if (entry === undefined || packed === undefined) return undefined;
    if (entry.method === METHOD_STORED) {
      if (packed.length > maxBytes) throw tooLarge(name);
      return packed;
    }
    if (entry.method !== METHOD_DEFLATED) return undefined;
    try {
      return await inflate(packed, { maxOutputLength: maxBytes });
    } catch (cause) {
      if (cause instanceof RangeError) throw tooLarge(name);
      return undefined;
    }
  }

  #packed({ localOffset, compressedBytes }: ZipEntry): Buffer | undefined {
    if (localOffset + LOCAL_BYTES > this.#bytes.length) return undefined;
    if (this.#bytes.readUInt32LE(localOffset) !== LOCAL_SIGNATURE) return undefined;
    const names = this.#bytes.readUInt16LE(localOffset + 26) + this.#bytes.readUInt16LE(localOffset + 28);
    const start = localOffset + LOCAL_BYTES + names;
    return start + compressedBytes > this.#bytes.length
      ? undefined
      : this.#bytes.subarray(start, start + compressedBytes);
  }
}

function tooLarge(name: string): RangeError {
  return new RangeError(`${name} is too large to be unpacked`);
}

/** The end record stands last, behind it only a comment. */
function findEnd(bytes: Buffer): number | undefined {
  const lowest = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT_BYTES);
  for (let at = bytes.length - END_BYTES; at >= lowest; at -= 1) {
    if (bytes.readUInt32LE(at) === END_SIGNATURE) return at;
  }
  return undefined;
}
