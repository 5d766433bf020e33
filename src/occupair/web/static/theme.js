// Apply the stored theme before anything is drawn.
(function () {
  var chosen = null;
  try { chosen = localStorage.getItem("occupair-theme"); } catch (error) { /* storage is blocked: use the system theme */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
