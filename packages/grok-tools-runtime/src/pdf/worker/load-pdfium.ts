import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { init, type WrappedPdfiumModule } from "@embedpdf/pdfium";

/** What a document may take, the file itself included. */
const MAX_MEMORY_BYTES = 768 * 1024 * 1024;

/** The part of the global of that name that is needed here. */
interface WebAssemblyGlobal {
  instantiate(
    bytes: Uint8Array,
    imports: object,
  ): Promise<{ readonly instance: { readonly exports: object } }>;
}

/** The library and its memory. */
export interface Pdfium {
  readonly library: WrappedPdfiumModule;
  /** All of its memory as it is now; growing it makes older views useless. */
  memory(): Uint8Array<ArrayBuffer>;
}

/** Loads PDFium, which then has a memory of its own with an upper limit. */
export async function loadPdfium(): Promise<Pdfium> {
  const webAssembly: WebAssemblyGlobal = Reflect.get(globalThis, "WebAssembly");
  const bytes = await readFile(fileURLToPath(import.meta.resolve("@embedpdf/pdfium/pdfium.wasm")));
  const loading = Promise.withResolvers<{ readonly buffer: ArrayBuffer }>();
  const options = {
    instantiateWasm(imports: WasmImports, receive: (instance: object) => void): object {
      webAssembly.instantiate(bytes, withLimit(imports)).then(({ instance }) => {
        receive(instance);
        loading.resolve(Reflect.get(instance.exports, "memory"));
      }, loading.reject);
      return {};
    },
    // Its remarks on broken documents are for nobody.
    print: () => {},
    printErr: () => {},
  };
  const [memory, library] = await Promise.all([loading.promise, init(options)]);
  library.PDFiumExt_Init();
  return { library, memory: () => new Uint8Array(memory.buffer) };
}

interface WasmImports {
  readonly env: { readonly emscripten_resize_heap: (bytes: number) => boolean };
}

/** The library's own limit is 2 GiB. */
function withLimit(imports: WasmImports): WasmImports {
  const { emscripten_resize_heap: grow } = imports.env;
  return {
    ...imports,
    env: {
      ...imports.env,
      emscripten_resize_heap: (bytes) => bytes >>> 0 <= MAX_MEMORY_BYTES && grow(bytes),
    },
  };
}
