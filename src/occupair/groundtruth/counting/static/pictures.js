// Contact sheets, fetched before they are needed. The browser may not store them, so each is held here.

const held = new Map();

/** An element with the picture of a minute; asks for it if it is not held. */
export function picture(number) {
  if (!held.has(number)) {
    const img = new Image();
    img.decoding = "async";
    img.src = `api/pictures/${number}`;
    held.set(number, img);
    while (held.size > 8) held.delete(held.keys().next().value);
  }
  return held.get(number);
}

/** Have a picture ready. */
export function expect(row) {
  if (row?.picture === "there") picture(row.number);
}

/** Let go of a picture, for it is deleted or could not be had. */
export const forget = (number) => { held.delete(number); };
