import { existsSync, readFileSync } from "node:fs";

/** One file of the page, as a server hands it out. */
export interface DashboardFile {
  /** Path below the page, without a slash in front; "" is the page itself. */
  readonly path: "" | "style.css" | "app.js";
  readonly contentType: string;
  readonly body: string;
}

/** What each file is, and where it lies; the sources and the built package are equally deep. */
const places = [
  { path: "", contentType: "text/html; charset=utf-8", place: "../public/index.html" },
  { path: "style.css", contentType: "text/css; charset=utf-8", place: "../public/style.css" },
  { path: "app.js", contentType: "text/javascript; charset=utf-8", place: "../dist/page/app.js" },
] as const;

/** Reads the files of the page; undefined when its script has not been built. */
export function dashboardFiles(): readonly DashboardFile[] | undefined {
  const files = places.map(({ place, ...file }) => ({ ...file, url: new URL(place, import.meta.url) }));
  if (!files.every(({ url }) => existsSync(url))) return undefined;
  return files.map(({ url, ...file }) => ({ ...file, body: readFileSync(url, "utf8") }));
}
