import { accessSync, constants } from "node:fs";

/** The Chromium of this machine: CHROMIUM_PATH, else where Linux distributions put it. */
export function findChromium() {
  const places = [
    process.env.CHROMIUM_PATH,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ];
  return places.find((path) => {
    if (path === undefined || path === "") return false;
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      // Not there or not executable: the next place.
      return false;
    }
  });
}
