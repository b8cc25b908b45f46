import { describe, expect, it } from "vitest";
import { builtInProfile } from "../settings/prompt-profile.ts";
import { parseSessionSettings } from "../settings/session-settings.ts";
import { systemPrompt } from "./system-prompt.ts";

const options = {
  cwd: "/w",
  mode: "agent" as const,
  model: "m-1",
  platform: "linux",
  language: undefined,
  isRepository: true,
  toolNames: ["Bash", "Read", "Edit"],
  profile: builtInProfile,
  gitStatus: undefined,
};
const profileOf = (written: unknown) => parseSessionSettings({ prompt_profile: written }).promptProfile;

describe("systemPrompt", () => {
  it("ends with the surroundings and then the repository, so that what comes before can be cached", () => {
    const stable = systemPrompt(options);
    const sections = systemPrompt({ ...options, language: "German", gitStatus: "Branch: main" });
    expect(sections.at(-1)).toBe("gitStatus: as of the start of this session.\nBranch: main");
    expect(sections).toContain("Answer in German.");
    expect(sections).toContain(
      "Working directory: /w\nGit repository: yes\nPlatform: linux\nShell: bash\nModel: m-1",
    );
    expect(sections.slice(0, 8)).toEqual(stable.slice(0, 8));
  });

  it("leaves out what is about changing things in plan mode", () => {
    const [agent, plan] = (["agent", "plan"] as const).map((mode) =>
      systemPrompt({ ...options, mode }).join(),
    );
    expect(agent).toContain("git configuration");
    expect(plan).not.toContain("git configuration");
    expect(plan).toContain("plan mode");
  });

  it("names only tools that are offered", () => {
    expect(systemPrompt(options).join()).toContain("Prefer Read and Edit to shell commands");
    const none = systemPrompt({ ...options, toolNames: ["Read"] }).join();
    expect(none).not.toContain("shell commands");
    expect(none).not.toContain("AskUser");
  });

  it("takes the texts of the settings: null is ours, an empty one drops, another replaces", () => {
    const profile = profileOf({
      prefix: "You are Ada.",
      tone_and_style: "",
      actions: "Do as you like.",
      system: null,
      extra_sections: ["One more.", "And another."],
      output_efficiency: 5,
    });
    const sections = systemPrompt({ ...options, profile });
    const own = systemPrompt(options);
    expect(sections[0]).toMatch(/^You are Ada\.\n/);
    expect(sections[1]).toBe(own[1]);
    expect(sections).toContain("Do as you like.");
    expect(sections).toContain("One more.\n\nAnd another.");
    expect(sections.join()).not.toContain("flattery");
    expect(sections.join()).toContain("Be brief");
    expect(systemPrompt({ ...options, profile: profileOf("nonsense") })).toEqual(own);
  });
});
