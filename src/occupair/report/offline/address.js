// The view of a page (filters, order, open room), kept in the fragment of its address.

/** The view in a fragment such as "sensor=faulty&sort=-nrmse"; unknown names are ignored. */
function readFragment(fragment, empty) {
  const view = { ...empty };
  for (const [key, value] of new URLSearchParams(fragment)) if (key in view) view[key] = value;
  return view;
}

/** Write a view to the address, without what is not chosen. */
function writeAddress(view, empty) {
  const fragment = String(new URLSearchParams(Object.entries(view).filter(([key, value]) => value !== empty[key])));
  if (fragment === location.hash.slice(1)) return;
  history.replaceState(null, "", fragment ? `#${fragment}` : location.href.split("#")[0] + "#");
}

/** Show the view in the address, and return whether there is one; a fragment without "=" is a section of the page. */
function followAddress({ parse, names, onClose, onChange, onOpen }) {
  const fragment = location.hash.slice(1);
  if (fragment && !fragment.includes("=")) return false;
  const view = parse(fragment), room = view.room ? names.indexOf(view.room) : -1;
  onClose();
  onChange({ ...view, room: "" }, { address: false });
  if (room >= 0) onOpen(room);
  return fragment !== "";
}
