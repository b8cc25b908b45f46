/** Elements without readable text, or around the text of a page. */
const EXCLUDED = new Set([
  "nav",
  "header",
  "footer",
  "script",
  "style",
  "noscript",
  "svg",
  "iframe",
  "object",
  "embed",
  "head",
  "template",
]);

/** Elements that begin and end a paragraph. */
const BLOCKS = new Set(
  (
    "address article aside body caption center dd details dialog div dl dt fieldset figcaption figure form hgroup " +
    "html legend main menu optgroup option p search section summary tbody tfoot thead title"
  ).split(" "),
);

/** Whether an element only ends one paragraph and begins another. */
export function isPlainBlock(name: string): boolean {
  return BLOCKS.has(name);
}

/** Whether an element is left out with all that is in it. The root of a page never is. */
export function isExcluded(name: string, attributes: Readonly<Record<string, string>>): boolean {
  if (name === "html" || name === "body") return false;
  if (EXCLUDED.has(name)) return true;
  return [attributes["class"], attributes["id"]].some((value) => value !== undefined && namesClutter(value));
}

/** Names that say what surrounds the element, not what it is: `has-sidebar`. */
const STATES = new Set(["has", "is", "no", "with", "without", "hide", "show"]);
/** `cookieconsent` and `advertisement` too. */
const CLUTTER = /^(cookie|advert|sidebars?$|leftsidebar$|rightsidebar$)/;

/**
 * Class names and ids of cookie notices, sidebars and advertisements. Whole words count: `ad-slot` is one,
 * `read-more` and `badge` are not.
 */
function namesClutter(value: string): boolean {
  if (value.length > MAX_NAME_LENGTH) return false;
  return value
    .split(/\s+/)
    .map((name) =>
      name
        .replace(/([a-z])([A-Z])/g, "$1-$2")
        .toLowerCase()
        .split(/[^a-z0-9]+/),
    )
    .some(
      (words) =>
        !STATES.has(words[0] ?? "") && words.some((word, index) => isClutter(word, words[index + 1])),
    );
}

const MAX_NAME_LENGTH = 4096;

function isClutter(word: string, next: string | undefined): boolean {
  if (word === "ad" || word === "ads") return next !== undefined && next !== "";
  return CLUTTER.test(word);
}
