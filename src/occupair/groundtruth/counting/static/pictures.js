// Contact sheets, loaded before they are needed. The browser may not cache them, so they are kept here.

const MAX_KEPT = 8;
const kept = new Map();
const keyOf = (minute) => `${minute.minute} ${minute.door}`; // its number changes when a minute is added

/** Return an image element with the contact sheet of a minute. */
export function getPicture(minute) {
  const key = keyOf(minute);
  if (!kept.has(key)) {
    const image = new Image();
    image.decoding = "async";
    image.src = `api/picture?${new URLSearchParams({ door: minute.door, minute: minute.minute })}`;
    kept.set(key, image);
    while (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value);
  }
  return kept.get(key);
}

/** Load a contact sheet in advance. */
export function preloadPicture(minute) {
  if (minute?.picture === "there") getPicture(minute);
}

/** Drop a contact sheet that was deleted or could not be loaded. */
export const dropPicture = (minute) => { kept.delete(keyOf(minute)); };
