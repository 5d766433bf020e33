// The order of rooms, which are indices.

/** Rooms sorted by a number each; those without one (NaN) come last in both directions. */
function sortByKeys(rooms, keys, descending) {
  const sign = descending ? -1 : 1;
  const known = rooms.filter((room) => !Number.isNaN(keys[room]));
  const unknown = rooms.filter((room) => Number.isNaN(keys[room]));
  known.sort((a, b) => sign * (keys[a] - keys[b]) || a - b);
  const sorted = new Uint32Array(rooms.length);
  sorted.set(known);
  sorted.set(unknown, known.length);
  return sorted;
}
