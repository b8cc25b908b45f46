import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Which folders below another are folders themselves, none of them reached over a symbolic link. Each is looked at once. */
export class RealFolders {
  readonly #root: string;
  readonly #known = new Map<string, Promise<boolean>>([[".", Promise.resolve(true)]]);

  constructor(root: string) {
    this.#root = root;
  }

  /** Whether a file with this relative path lies where its path says. */
  hold(path: string): Promise<boolean> {
    return this.#isReal(dirname(path));
  }

  #isReal(folder: string): Promise<boolean> {
    const known = this.#known.get(folder);
    if (known !== undefined) return known;
    const answer = this.#look(folder);
    this.#known.set(folder, answer);
    return answer;
  }

  async #look(folder: string): Promise<boolean> {
    if (!(await this.#isReal(dirname(folder)))) return false;
    try {
      return (await lstat(join(this.#root, folder))).isDirectory();
    } catch {
      return false;
    }
  }
}
