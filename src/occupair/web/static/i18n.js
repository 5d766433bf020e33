// Texts in the user's language. All visible text is in languages/<language>.json; scripts use keys.

const LOCALES = { en: "en-GB", de: "de-DE" };
const STORAGE_KEY = "occupair-language";

export const LANGUAGES = Object.keys(LOCALES);

/** The language chosen on the page, else the first of the browser's languages that is available. */
function preferredLanguage() {
  let chosen = null;
  try { chosen = localStorage.getItem(STORAGE_KEY); } catch { /* storage is blocked */ }
  const wanted = [chosen, ...navigator.languages.map((tag) => tag.split("-")[0].toLowerCase())];
  return wanted.find((name) => LANGUAGES.includes(name)) ?? "en";
}

export const language = preferredLanguage();
export const locale = LOCALES[language];
const numbers = new Intl.NumberFormat(locale);
const plurals = new Intl.PluralRules(locale);
let texts = {};

export const formatNumber = (value, options) => (
  options ? new Intl.NumberFormat(locale, options) : numbers).format(value);

/**
 * Return the text of a key, with `{name}` replaced by `values.name`.
 *
 * A text with a `one` and an `other` form is chosen by `values.count`. Numbers are formatted for the locale.
 */
export function t(key, values = {}) {
  return fill(template(key, values), (name) => values[name]).join("");
}

function template(key, values) {
  const text = texts[key];
  if (text === undefined) throw new Error(`no text for ${key} in ${language}`);
  return typeof text === "string" ? text : text[plurals.select(values.count)] ?? text.other;
}

/** Split a template at its placeholders and replace each by `value(name)`. */
function fill(text, value) {
  return text.split(/\{(\w+)\}/).map((part, i) => {
    if (i % 2 === 0) return part;
    const given = value(part);
    return typeof given === "number" ? numbers.format(given) : given;
  });
}

/** Store another language and load the page again in it. */
export function switchLanguage(name) {
  try { localStorage.setItem(STORAGE_KEY, name); } catch { /* storage is blocked */ }
  location.reload();
}

const ATTRIBUTES = { tTitle: "title", tLabel: "aria-label", tPlaceholder: "placeholder", tGroup: "label" };

/**
 * Set the texts of static HTML: `data-t` is the key of the content, `data-t-title`, `data-t-label` (aria-label),
 * `data-t-placeholder` and `data-t-group` (label of an optgroup) are keys of attributes. Child elements with
 * `data-slot="name"` take the place of `{name}` in the text.
 */
function translatePage() {
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-t]")) {
    const slots = Object.fromEntries([...node.querySelectorAll("[data-slot]")].map((slot) => [slot.dataset.slot, slot]));
    node.replaceChildren(...fill(template(node.dataset.t, {}), (name) => slots[name]));
  }
  for (const [data, attribute] of Object.entries(ATTRIBUTES)) {
    const selector = `[data-t-${data.slice(1).toLowerCase()}]`;
    for (const node of document.querySelectorAll(selector)) node.setAttribute(attribute, t(node.dataset[data]));
  }
}

/** Load the texts and translate the static HTML. To be awaited before anything else is shown. */
export async function startTexts() {
  const files = [`assets/languages/common.${language}.json`, `assets/languages/${language}.json`];
  const loaded = await Promise.all(files.map((file) => fetch(file).then((response) => response.json())));
  texts = Object.assign({}, ...loaded);
  translatePage();
}
