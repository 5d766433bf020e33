// The theme, before anything is drawn: what the person chose, or what the system says.
(function () {
  var chosen = null;
  try { chosen = localStorage.getItem("occupair-theme"); } catch (refused) { /* no storage: follow the system */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
