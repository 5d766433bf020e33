// Draws the figures in the colours of the page, redraws them on a change of the colour scheme, and wires the legends.
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const touch = window.matchMedia("(pointer: coarse)").matches;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const config = { responsive: true, displaylogo: false, displayModeBar: touch ? false : "hover",
                   modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]] };  // no button that uploads data

  function inked(figure) {
    const ink = colour("--ink"), soft = colour("--soft"), grid = colour("--grid");
    for (const trace of figure.data) {
      if (trace.meta !== "ink") continue;
      if (trace.line) trace.line.color = ink;
      if (trace.marker) trace.marker.color = ink;
    }
    const layout = figure.layout;
    layout.font.color = soft;
    layout.hoverlabel = { bgcolor: colour("--paper"), bordercolor: colour("--line"), font: { color: ink } };
    layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: soft, activecolor: ink };
    for (const note of layout.annotations || []) note.font.color = ink;
    for (const [name, axis] of Object.entries(layout)) {
      if (/^[xy]axis\d*$/.test(name)) { axis.gridcolor = grid; axis.linecolor = colour("--line"); }
    }
    return figure;
  }

  for (const plot of document.querySelectorAll(".plot")) {
    const figure = JSON.parse(document.getElementById(plot.id + "-data").textContent);
    figure.layout.showlegend = false;  // the buttons above the figure are its legend
    if (touch) figure.layout.dragmode = false;  // swiping scrolls the page
    const draw = () => { inked(figure); Plotly.react(plot, figure.data, figure.layout, config); };
    draw();
    dark.addEventListener("change", draw);
    for (const button of plot.closest("figure").querySelectorAll(".legend button")) {
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        const group = button.dataset.group;
        figure.data.forEach((trace) => { if (trace.legendgroup === group) trace.visible = shown; });
        draw();
      });
    }
  }
})();
