import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import type { TouchedFile } from "../session-resource.ts";
import type { ToolContext, ToolResult } from "../tool.ts";
import { applyPatch } from "../tools/codex/apply-patch/apply-patch.ts";
import { toolContext } from "./tool-context.ts";

/** A folder in which a test applies patches. */
export class PatchFolder implements AsyncDisposable {
  readonly path: string;
  readonly #folder: AsyncDisposable;
  context: ToolContext<unknown>;
  /** What the tool said it touched since {@link configure}. */
  touched: Omit<TouchedFile, "callId">[] = [];

  private constructor(path: string, folder: AsyncDisposable) {
    this.path = path;
    this.#folder = folder;
    this.context = this.configure({});
  }

  static async open(): Promise<PatchFolder> {
    const folder = await temporaryFolder();
    return new PatchFolder(folder.path, folder);
  }

  /** Gives the next calls another context. */
  configure(overrides: Partial<ToolContext<unknown>>): ToolContext<unknown> {
    this.touched = [];
    this.context = toolContext({
      workingDirectory: this.path,
      params: { allow_overwrite: true },
      touched: (file) => this.touched.push(file),
      ...overrides,
    });
    return this.context;
  }

  /** Applies a patch, given without its markers. */
  async patch(...parts: readonly string[]): Promise<ToolResult> {
    const patch = ["*** Begin Patch", ...parts, "*** End Patch"].join("\n");
    return await applyPatch.run({ patch }, this.context);
  }

  at(name: string): string {
    return join(this.path, name);
  }

  async put(name: string, content: string | Uint8Array): Promise<void> {
    await mkdir(dirname(this.at(name)), { recursive: true });
    await writeFile(this.at(name), content);
  }

  async bytes(name: string): Promise<Buffer> {
    return await readFile(this.at(name));
  }

  /** All files by path, also behind links; each byte is a character. */
  async tree(): Promise<Record<string, string>> {
    const files: Record<string, string> = {};
    for (const entry of await readdir(this.path, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      // Folders, and links to nothing.
      const content = await readFile(path).catch(() => undefined);
      if (content !== undefined) files[path.slice(this.path.length + 1)] = content.toString("latin1");
    }
    return files;
  }

  /** @throws when the tool has left temporary files behind. */
  async [Symbol.asyncDispose](): Promise<void> {
    const names = await readdir(this.path, { recursive: true });
    await this.#folder[Symbol.asyncDispose]();
    const leftovers = names.filter((name) => name.includes(".trivium-"));
    if (leftovers.length > 0) throw new Error(`left behind: ${leftovers.join(", ")}`);
  }
}
