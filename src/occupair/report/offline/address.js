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
