import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import type { Logger } from "@trivium/core";
import type { Roots } from "../files/path-jail.ts";
import type { ResourceDefinition, SessionScope, TouchedFile } from "../session-resource.ts";
import { findSkills, readSkill } from "./find-skills.ts";
import type { Skill } from "./skill.ts";
import { MAX_SKILLS, SkillRegistry } from "./skill-registry.ts";
import { skillReminder } from "./skill-reminder.ts";
import {
  foldersAbove,
  gitRootOf,
  rootOfDocument,
  rootsIn,
  type SkillPlaces,
  startingRoots,
} from "./skill-roots.ts";

/** What {@link SessionSkills} works with. */
export interface SessionSkillsOptions extends Omit<SkillPlaces, "gitRoot"> {
  /** Skills outside are not seen; undefined: no limit. */
  readonly roots: Roots;
  readonly logger: Logger;
  /** Client name of the first tool of a kind. */
  readonly toolName: (kind: "skill" | "read") => string | undefined;
}

/**
 * The skills of a session: those of its folder, its repository, its user and its server, and those that turn up in the
 * folders it works in.
 */
export class SessionSkills {
  readonly registry: SkillRegistry = new SkillRegistry();
  readonly #options: SessionSkillsOptions;
  readonly #visited = new Set<string>();
  /** Names that the model knows, or will be told. */
  readonly #known = new Set<string>();
  readonly #told: Skill[] = [];
  #untold: Skill[] = [];
  #places: Promise<SkillPlaces> | undefined;
  /** Ends when everything that was touched so far was looked at. */
  #discovery: Promise<void> = Promise.resolve();

  constructor(options: SessionSkillsOptions) {
    this.#options = options;
  }

  /** Resolves when the places a session begins with were looked at. */
  async ready(): Promise<void> {
    await this.#start();
  }

  /** Looks at the same places again: new documents and changed heads are taken in, what is gone stays known. */
  async refresh(): Promise<void> {
    const places = await this.#start();
    await this.#discovery;
    await this.#scan(places);
  }

  /** A tool has read, listed or written something. Does not wait. */
  touched({ access, path }: Pick<TouchedFile, "access" | "path">): void {
    if (access === "delete") return;
    this.#discovery = this.#discovery
      .then(() => this.#discover(path, access === "list"))
      .catch((error: unknown) =>
        this.#options.logger.warn({ error, path }, "skills could not be looked for"),
      );
  }

  /** Tells of the skills that became available since the last time, each name once. */
  async takeReminder(): Promise<string | undefined> {
    await this.#discovery;
    if (this.#untold.length === 0) return undefined;
    const skills = this.#untold.splice(0);
    this.#told.push(...skills);
    return skillReminder(skills, this.registry, this.#options);
  }

  /** The model has forgotten what it was told, for example because its context was compacted: it is told again. */
  forgetAnnouncements(): void {
    this.#untold = [...this.#told.splice(0), ...this.#untold];
  }

  /** Ends what is being looked for. */
  async close(): Promise<void> {
    await this.#discovery;
  }

  async #start(): Promise<SkillPlaces> {
    this.#places ??= this.#findPlaces().then(async (places) => {
      await this.#scan(places);
      // What is there from the beginning is part of a description, not news.
      for (const { name } of this.registry.available) this.#known.add(name);
      return places;
    });
    return await this.#places;
  }

  async #findPlaces(): Promise<SkillPlaces> {
    return { ...this.#options, gitRoot: await gitRootOf(this.#options.directory) };
  }

  async #scan(places: SkillPlaces): Promise<void> {
    const { roots } = this.#options;
    for (const root of startingRoots(places)) {
      this.registry.add(await findSkills(root, { roots, maxSkills: MAX_SKILLS }));
    }
  }

  async #discover(touchedPath: string, isFolder: boolean): Promise<void> {
    const places = await this.#start();
    const path = await realpath(touchedPath).catch(() => touchedPath);
    const { roots, includesCompat } = this.#options;
    const found: Skill[] = [];
    for (const folder of foldersAbove(isFolder ? path : dirname(path), places)) {
      if (this.#visited.has(folder)) continue;
      this.#visited.add(folder);
      for (const root of rootsIn(folder, "local", includesCompat)) {
        found.push(...this.registry.add(await findSkills(root, { roots, maxSkills: MAX_SKILLS })));
      }
    }
    const root = isFolder ? undefined : rootOfDocument(path, places);
    const own = root === undefined ? undefined : await readSkill(path, root, roots);
    if (own !== undefined) found.push(...this.registry.add([own]));
    const activated = this.registry.hasWaiting ? this.registry.activate(path, isFolder) : [];
    this.#announce([...found.filter((skill) => this.registry.isAvailable(skill)), ...activated]);
  }

  #announce(skills: readonly Skill[]): void {
    for (const skill of skills) {
      if (this.#known.has(skill.name)) continue;
      this.#known.add(skill.name);
      this.#untold.push(skill);
    }
  }
}

/** The skills of a session, told to the model as they turn up. */
export const sessionSkills: ResourceDefinition<SessionSkills> = {
  name: "skills",
  create: (scope) => new SessionSkills(optionsOf(scope)),
  dispose: (skills) => skills.close(),
  fileTouched: (skills, file) => skills.touched(file),
  async reminders(skills) {
    const text = await skills.takeReminder();
    return text === undefined ? [] : [text];
  },
};

function optionsOf(scope: SessionScope): SessionSkillsOptions {
  const { sessionDirectory, homeDirectory, workspaceRoots, logger } = scope;
  const { compat, folders } = scope.settings.skills;
  return {
    directory: sessionDirectory,
    homeDirectory,
    serverFolders: folders,
    includesCompat: compat,
    roots: workspaceRoots,
    logger,
    toolName: (kind) => scope.toolName(kind),
  };
}
