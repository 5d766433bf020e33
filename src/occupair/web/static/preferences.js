// Preferences in the header: colour theme and language, remembered in the browser.

import { byId, el, setIcon } from "./dom.js";
import { LANGUAGES, language, switchLanguage, t } from "./i18n.js";

/** Read a stored preference; null if there is none or storage is blocked. */
export const readPreference = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
export const storePreference = (key, value) => { try { localStorage.setItem(key, value); } catch { /* storage is blocked */ } };

const THEME_ICONS = { system: "system", light: "sun", dark: "moon" };
const THEMES = Object.keys(THEME_ICONS);

function applyTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  const text = { system: t("theme.system"), light: t("theme.light"), dark: t("theme.dark") }[name];
  setIcon(byId("theme"), THEME_ICONS[name]);
  byId("theme").title = text;
  byId("theme").setAttribute("aria-label", text);
}

/** Make the theme button work; `onChange()` is called when the colours change. */
export function startTheme(onChange = () => {}) {
  const stored = readPreference("occupair-theme");
  let name = THEMES.includes(stored) ? stored : "system";
  applyTheme(name);
  byId("theme").addEventListener("click", (event) => {
    name = THEMES[(THEMES.indexOf(name) + 1) % THEMES.length];
    storePreference("occupair-theme", name);
    applyTheme(name);
    onChange();
    if (event.detail > 0) byId("theme").blur(); // clicked: the keyboard belongs to the page again
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onChange);
}

/** Make the language switch work. */
export function startLanguageSwitch() {
  const select = byId("language");
  select.append(...LANGUAGES.map((name) => el("option", { value: name }, name.toUpperCase())));
  select.value = language;
  select.addEventListener("change", () => switchLanguage(select.value));
}
