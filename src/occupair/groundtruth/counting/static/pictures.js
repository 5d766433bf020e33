// Contact sheets, fetched before they are needed. The browser may not store them, so each is held here.

const held = new Map();
const nameOf = (row) => `${row.minute} ${row.door}`; // not its number, which changes when a minute is added

/** An element with the picture of a minute; asks for it if it is not held. */
export function picture(row) {
  if (!held.has(nameOf(row))) {
    const img = new Image();
    img.decoding = "async";
    img.src = `api/picture?${new URLSearchParams({ door: row.door, minute: row.minute })}`;
    held.set(nameOf(row), img);
    while (held.size > 8) held.delete(held.keys().next().value);
  }
  return held.get(nameOf(row));
}

/** Have a picture ready. */
export function expect(row) {
  if (row?.picture === "there") picture(row);
}

/** Let go of a picture, for it is deleted or could not be had. */
export const forget = (row) => { held.delete(nameOf(row)); };
