import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { SessionArtifacts } from "./session-artifacts.ts";

describe("SessionArtifacts", () => {
  it("numbers files from 1, whatever their kind, and each folder for itself", async () => {
    await using folder = await temporaryFolder();
    const artifacts = new SessionArtifacts(folder.path);
    const first = await artifacts.save("images", "png", Buffer.from("a"));
    expect(first).toEqual({ path: join(folder.path, "images/1.png"), filename: "1.png" });
    expect((await artifacts.save("images", "jpg", Buffer.from("b"))).filename).toBe("2.jpg");
    expect((await artifacts.save("videos", "mp4", Buffer.from("c"))).filename).toBe("1.mp4");
    expect(await readFile(first.path, "utf8")).toBe("a");
    expect(await artifacts.find("images", 2)).toBe(join(folder.path, "images/2.jpg"));
    expect(await artifacts.find("images", 3)).toBeUndefined();
  });

  it("goes on after the files of an earlier run and removes half-written ones", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "images"));
    await writeFile(join(folder.path, "images/7.png"), "abc");
    await writeFile(join(folder.path, "images/8.png.x.partial"), "half");
    const artifacts = new SessionArtifacts(folder.path, { images: 5 });
    expect((await artifacts.save("images", "png", Buffer.from("de"))).filename).toBe("8.png");
    expect((await readdir(join(folder.path, "images"))).sort()).toEqual(["7.png", "8.png"]);
    await expect(artifacts.save("images", "png", Buffer.from("f"))).rejects.toThrow(/holds 5 of 5 bytes/);
  });

  it("takes the last byte of a budget and not one more, with many calls at once", async () => {
    await using folder = await temporaryFolder();
    const artifacts = new SessionArtifacts(folder.path, { downloads: 10 });
    const saves = Array.from({ length: 6 }, () => artifacts.save("downloads", "pdf", Buffer.from("ab")));
    const settled = await Promise.allSettled(saves);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    expect(await readdir(join(folder.path, "downloads"))).toHaveLength(5);
  });

  it("gives the bytes of a failed write back", async () => {
    await using folder = await temporaryFolder();
    const artifacts = new SessionArtifacts(folder.path, { downloads: 2 });
    await expect(artifacts.save("downloads", "no/such/folder", Buffer.from("ab"))).rejects.toThrow();
    expect((await artifacts.save("downloads", "pdf", Buffer.from("ab"))).filename).toBe("2.pdf");
  });
});
