// A chart: curves with error bands, or bars with whiskers, which a reader can ask for values and change.
//
// scenthound.drawChart(element, chart) fills an element and answers with a handle. `update(chart)` shows newer data;
// what the reader hid stays hidden, and axes stay as they are. `chart` is what `report/page/figure_data.py` makes.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { drawn } = scenthound;

  // Series that are new to the reader are hidden if the data says so; the others stay as the reader left them.
  function meet(state, chart) {
    for (const series of chart.series) {
      if (!state.met.has(series.name) && series.hidden) state.hidden.add(series.name);
      state.met.add(series.name);
    }
    state.chart = chart;
  }

  function nothing(width, text) {
    const area = { width, height: 120 };
    return { area, parts: [drawn("text", { class: "empty", x: width / 2, y: 64, "text-anchor": "middle" }, text)] };
  }

  function drawing(state, shown, width) {
    const hasValues = (series) => series.y.some((value) => value !== null);
    if (!state.chart.series.some(hasValues)) return nothing(width, "Nothing to draw yet.");
    if (!shown.some(hasValues)) return nothing(width, "All are hidden. Choose one above.");
    if (state.chart.kind === "bars") return scenthound.drawBars(state, shown, width);
    return scenthound.drawCurves(state, shown, width, scenthound.chartHeight(width));
  }

  scenthound.drawChart = (container, chart) => {
    const state = { chart: null, hidden: new Set(), met: new Set(), isLogX: false, isLogY: false };
    let now = { made: null, stops: [], layer: null };
    meet(state, chart);
    const { plot, refresh } = scenthound.chartFrame(container, state, redraw);
    const svg = drawn("svg", { class: "drawing", tabindex: 0, role: "img" });
    plot.append(svg);
    const reading = new scenthound.Reading(plot, svg, () => now);

    function redraw() {
      const width = scenthound.widthOf(plot);
      const shown = scenthound.shownSeries(state);
      const made = drawing(state, shown, width);
      const layer = drawn("g", { class: "layer" });
      svg.setAttribute("viewBox", `0 0 ${width} ${made.area.height}`);
      svg.setAttribute("aria-label", `${state.chart.title}. Arrow keys read the values.`);
      svg.replaceChildren(...made.parts, layer);
      now = { made, layer, stops: made.parts.length > 1 ? scenthound.stopsOf(state, shown, made) : [] };
      refresh();
      reading.refresh();
    }

    redraw();
    scenthound.onNewWidth(plot, redraw);
    return {
      update: (newer) => {
        meet(state, newer);
        redraw();
      },
    };
  };
})();
