import { createRegistry, type DescFile, type DescService, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/** Finds the files that define names, for clients that have no proto files. */
export class DescriptorIndex {
  readonly #files = new Map<string, DescFile>();
  readonly #registry: Registry;

  constructor(services: readonly DescService[]) {
    const add = (file: DescFile): void => {
      if (this.#files.has(file.name)) return;
      this.#files.set(file.name, file);
      for (const dependency of file.dependencies) add(dependency);
    };
    for (const service of services) add(service.file);
    this.#registry = createRegistry(...this.#files.values());
  }

  /** Serialized FileDescriptorProtos: the named file first, then everything it needs. */
  byFileName(fileName: string): Uint8Array[] | undefined {
    // Descriptors name files without the suffix.
    return closure(this.#files.get(fileName.replace(/\.proto$/, "")));
  }

  /** The file of a message, enum, service, extension, method, field, oneof or enum value, by its full name. */
  bySymbol(symbol: string): Uint8Array[] | undefined {
    return closure(this.#fileOf(symbol));
  }

  byExtension(messageName: string, number: number): Uint8Array[] | undefined {
    const message = this.#registry.getMessage(messageName);
    return message && closure(this.#registry.getExtensionFor(message, number)?.file);
  }

  /** Numbers of the known extensions of a message, or undefined for an unknown message. */
  extensionNumbers(messageName: string): number[] | undefined {
    if (this.#registry.getMessage(messageName) === undefined) return undefined;
    const numbers: number[] = [];
    for (const type of this.#registry) {
      if (type.kind === "extension" && type.extendee.typeName === messageName) numbers.push(type.number);
    }
    return numbers.sort((a, b) => a - b);
  }

  #fileOf(symbol: string): DescFile | undefined {
    const type = this.#registry.get(symbol);
    if (type !== undefined) return type.file;
    const dot = symbol.lastIndexOf(".");
    const member = symbol.slice(dot + 1);
    const parent = this.#registry.get(symbol.slice(0, Math.max(dot, 0)));
    switch (parent?.kind) {
      case "service":
        return parent.methods.some(({ name }) => name === member) ? parent.file : undefined;
      case "message":
        return [...parent.fields, ...parent.oneofs].some(({ name }) => name === member)
          ? parent.file
          : undefined;
      case "enum":
      case "extension":
      case undefined:
        // Values of an enum live beside it in the scope of its parent, not below it.
        return this.#fileOfEnumValue(symbol);
    }
  }

  #fileOfEnumValue(symbol: string): DescFile | undefined {
    for (const type of this.#registry) {
      if (type.kind !== "enum") continue;
      const scope = type.parent?.typeName ?? type.file.proto.package;
      const prefix = scope === "" ? "" : `${scope}.`;
      const isValue = type.values.some(
        ({ name }) => symbol === `${prefix}${name}` || symbol === `${type.typeName}.${name}`,
      );
      if (isValue) return type.file;
    }
    return undefined;
  }
}

function closure(file: DescFile | undefined): Uint8Array[] | undefined {
  if (file === undefined) return undefined;
  const files = new Set<DescFile>();
  const add = (next: DescFile): void => {
    if (files.has(next)) return;
    files.add(next);
    for (const dependency of next.dependencies) add(dependency);
  };
  add(file);
  return [...files].map((each) => toBinary(FileDescriptorProtoSchema, each.proto));
}
