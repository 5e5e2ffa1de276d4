// Charts: a title, a legend, buttons for logarithmic axes, and values read by mouse, touch or arrow keys.
//
// scenthound.drawChart(element, chart) fills an element and returns a handle. `update(chart)` draws new data; hidden series
// and logarithmic axes stay. `chart` is the JSON of a `Chart` of ui/document.py.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { element, drawn, button, numberText } = scenthound;
  const N_COLOURS = 8;

  // Colour-blind readers and printers need dashes besides colours. After eight series both repeat, the dashes shifted by
  // one, so that 64 series are distinct. Bars of every second round are lighter.
  const styleOf = (index) => {
    const round = Math.floor(index / N_COLOURS);
    return `hue-${index % N_COLOURS} dash-${(index + round) % N_COLOURS}${round % 2 ? " lighter" : ""}`;
  };

  const visibleSeries = (state) =>
    state.chart.series.map((series, index) => ({ ...series, style: styleOf(index) }))
      .filter((series) => !state.hidden.has(series.name));

  // Why an axis cannot be logarithmic; null if it can.
  scenthound.whyNotLog = (state, axis) => {
    const values = visibleSeries(state).flatMap((series) => series[axis]).filter((value) => value !== null);
    if (axis === "x") return values.some((value) => value > 0) ? null : "No x value is above 0.";
    if (values.length === 0) return "All series are hidden.";
    if (values.every((value) => value > 0)) return null;
    return "A logarithmic axis needs values above 0.";
  };

  // A sample of a series.
  const swatch = (style, kind) => {
    const [shape, width] = kind === "bars"
      ? [drawn("rect", { class: `bar ${style}`, x: 1, y: 1, width: 12, height: 10 }), 14]
      : [drawn("line", { class: `line ${style}`, x1: 0, x2: 36, y1: 6, y2: 6 }), 36];
    return drawn("svg", { class: "swatch", width, height: 12, "aria-hidden": "true" }, shape);
  };

  function legend(state, redraw) {
    const list = element("div", { class: "legend", role: "group", "aria-label": "Show or hide" });
    let listed = "";
    const entry = ({ name }, index) => {
      const made = button("", { value: name }, () => {
        if (!state.hidden.delete(name)) state.hidden.add(name);
        redraw();
      });
      made.append(swatch(styleOf(index), state.chart.kind), element("span", {}, name));
      return made;
    };
    const refresh = () => {
      const names = JSON.stringify(state.chart.series.map((series) => series.name));
      if (names !== listed) list.replaceChildren(...state.chart.series.map(entry));
      listed = names;
      list.hidden = state.chart.series.length < 2;
      for (const each of list.children) each.setAttribute("aria-pressed", !state.hidden.has(each.value));
    };
    return { list, refresh };
  }

  function logButton(state, axis, redraw, say) {
    const field = axis === "x" ? "isLogX" : "isLogY";
    const made = button(`log ${axis}`, { title: `Logarithmic ${axis} axis` }, () => {
      const reason = scenthound.whyNotLog(state, axis);
      say(reason && !state[field] ? reason : "");
      if (!reason || state[field]) state[field] = !state[field];
      redraw();
    });
    const refresh = () => {
      const reason = scenthound.whyNotLog(state, axis);
      made.hidden = state.chart.series.length === 0 || (axis === "x" && state.chart.kind === "bars");
      if (axis === "y") made.textContent = state.chart.kind === "bars" ? "log" : "log y";
      made.setAttribute("aria-pressed", state[field] && !reason);
      made.setAttribute("aria-disabled", reason !== null);
      made.title = reason ?? `Logarithmic ${axis} axis`;
    };
    return { made, refresh };
  }

  function markList(state, list) {
    const markers = state.chart.markers ?? [];
    list.hidden = markers.length === 0;
    const text = (marker) => `${marker.label} (at ${numberText(marker.x)})`;
    list.replaceChildren(...markers.map((marker) => element("li", {}, text(marker))));
  }

  // How many series are visible, if not all are. The hint is not printed.
  function visibleCount(state, line) {
    const { series } = state.chart;
    const count = series.filter((each) => !state.hidden.has(each.name)).length;
    line.hidden = count === series.length;
    const how = element("span", { class: "on-screen" }, " Click a name to show or hide it.");
    line.replaceChildren(`${count} of ${series.length} series are shown.`, how);
  }

  // Fills an element; returns the container of the plot and a function that updates the other parts.
  const chartFrame = (container, state, redraw) => {
    const title = element("h3");
    const reason = element("p", { class: "reason", role: "status" });
    const say = (text) => (reason.textContent = text);
    const logs = ["x", "y"].map((axis) => logButton(state, axis, redraw, say));
    const { list, refresh: refreshLegend } = legend(state, redraw);
    const count = element("p", { class: "visible-count" });
    const plot = element("div", { class: "plot" });
    const marks = element("ol", { class: "marks" });
    const note = element("p", { class: "note" });
    const buttons = element("div", { class: "switch", role: "group", "aria-label": "Axes" });
    buttons.append(...logs.map((log) => log.made));
    const head = element("div", { class: "figure-head" }, title, buttons);
    container.replaceChildren(head, reason, list, count, plot, marks, note);
    const refresh = () => {
      title.textContent = state.chart.title ?? "";
      note.textContent = state.chart.note ?? "";
      note.hidden = !state.chart.note;
      refreshLegend();
      visibleCount(state, count);
      logs.forEach((log) => log.refresh());
      buttons.hidden = logs.every((log) => log.made.hidden);
      markList(state, marks);
    };
    return { plot, refresh };
  };

  const KEYS = {
    ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity,
  };

  // The value of a series at x, interpolated; null in gaps and outside the series.
  function valueAt(series, x) {
    let low = 0;
    let high = series.x.length - 1;
    if (high < 0 || x < series.x[0] || x > series.x[high]) return { value: null, error: null };
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (series.x[middle] <= x) low = middle;
      else high = middle;
    }
    if (series.x[high] === x) low = high;
    const share = high === low ? 0 : (x - series.x[low]) / (series.x[high] - series.x[low]);
    const mixed = (values) => (values[low] === null || (share > 0 && values[high] === null)
      ? null : values[low] + (share > 0 ? share * (values[high] - values[low]) : 0));
    return { value: mixed(series.y), error: series.error ? mixed(series.error) : null };
  }

  function curveStops(state, visible, area) {
    const xs = new Set();
    for (const series of visible) series.x.forEach((x, at) => x !== null && series.y[at] !== null && xs.add(x));
    const sorted = [...xs].filter((x) => !(area.x.isLog && x <= 0)).sort((a, b) => a - b);
    const near = (x) => (state.chart.markers ?? []).filter((mark) => Math.abs(area.x.at(mark.x) - area.x.at(x)) < 6);
    return sorted.map((x) => ({
      at: area.x.at(x),
      head: `${state.chart.x_label}: ${numberText(x)}`,
      rows: () => visible.map((series) => ({ name: series.name, style: series.style, ...valueAt(series, x) })),
      marks: () => near(x).map((mark) => mark.label),
    }));
  }

  function barStops(state, { area, room, isHorizontal, barsAt }) {
    const start = isHorizontal ? area.top + 3 : area.left;
    return state.chart.categories.map((name, index) => ({
      at: start + (index + 0.5) * room,
      head: name,
      rows: () => barsAt(index),
      marks: () => [],
    }));
  }

  const stopsOf = (state, visible, made) =>
    state.chart.kind === "bars" ? barStops(state, made) : curveStops(state, visible, made.area);

  const valueText = ({ value, error }) => numberText(value) + (error ? ` ± ${numberText(error)}` : "");

  function rowsOf(stop) {
    const known = stop.rows().filter((row) => row.value !== null);
    return known.sort((a, b) => b.value - a.value);
  }

  function table(rows, kind) {
    return element("table", {}, ...rows.map((row) => {
      const sign = element("td", {}, swatch(row.style, kind));
      return element("tr", {}, sign, element("td", {}, row.name), element("td", { class: "figure" }, valueText(row)));
    }));
  }

  // A line at the current position with a dot on each curve, or a light background behind the current bars.
  function pointer({ area, room, isHorizontal }, { at }, rows) {
    const half = room / 2;
    const { top, bottom, width } = area;
    if (isHorizontal) return [drawn("rect", { class: "row-read", x: 0, y: at - half, width, height: room })];
    if (room) return [drawn("rect", { class: "row-read", x: at - half, y: top, width: room, height: bottom - top })];
    const dot = (row) => drawn("circle", { class: `dot ${row.style}`, cx: at, cy: area.y.at(row.value), r: 3.5 });
    return [drawn("line", { class: "reading", x1: at, x2: at, y1: top, y2: bottom }), ...rows.map(dot)];
  }

  function nearest(stops, at) {
    let best = 0;
    stops.forEach((stop, index) => {
      if (Math.abs(stop.at - at) < Math.abs(stops[best].at - at)) best = index;
    });
    return best;
  }

  // Shows values at stops: the x values that any series has, or the categories of bars. `current()` returns the current drawing:
  // {made, stops, layer}.
  const Reading = class {
    #svg; #current; #box; #speak; #read = null;

    constructor(plot, svg, current) {
      this.#svg = svg;
      this.#current = current;
      this.#box = scenthound.floating(plot);
      this.#speak = scenthound.spoken(plot);
      svg.addEventListener("pointermove", (event) => this.#follow(event));
      svg.addEventListener("pointerdown", (event) => this.#follow(event));
      svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.clear());
      svg.addEventListener("blur", () => this.clear());
      svg.addEventListener("keydown", (event) => this.#key(event));
    }

    clear() {
      this.#read = null;
      this.#box.hide();
      this.#current().layer?.replaceChildren();
    }

    // Show the same stop in the new drawing.
    refresh() {
      if (this.#read !== null) this.#show(this.#read);
    }

    // Shows a stop, and returns its text.
    #show(index) {
      const { made, stops, layer } = this.#current();
      if (!stops.length) return this.clear();
      this.#read = Math.max(0, Math.min(stops.length - 1, index));
      const stop = stops[this.#read];
      const rows = rowsOf(stop);
      layer.replaceChildren(...pointer(made, stop, rows));
      const content = [element("p", { class: "head" }, stop.head), table(rows, made.room ? "bars" : "curves")];
      const [left, top] = made.isHorizontal ? [made.area.left + 40, stop.at + 14] : [stop.at, 20];
      this.#box.show(left, top, ...content, ...stop.marks().map((text) => element("p", {}, text)));
      return `${stop.head}. ${rows.map((row) => `${row.name}: ${valueText(row)}`).join("; ")}`;
    }

    #follow(event) {
      const { made, stops } = this.#current();
      if (!stops.length) return;
      const sides = this.#svg.getBoundingClientRect();
      const at = made.isHorizontal ? event.clientY - sides.top : event.clientX - sides.left;
      this.#show(nearest(stops, (at * made.area.width) / sides.width));
    }

    #key(event) {
      const step = KEYS[event.key];
      if (event.key === "Escape") this.clear();
      if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const start = this.#read ?? (step > 0 ? -1 : this.#current().stops.length);
      this.#speak(this.#show(start + step) ?? "");
    }
  };

  // New series are hidden if the data says so; others stay as the reader left them.
  function setChart(state, chart) {
    for (const series of chart.series) {
      if (!state.known.has(series.name) && series.hidden) state.hidden.add(series.name);
      state.known.add(series.name);
    }
    state.chart = chart;
  }

  function nothing(width, text) {
    const area = { width, height: 120 };
    return { area, parts: [drawn("text", { class: "empty", x: width / 2, y: 64, "text-anchor": "middle" }, text)] };
  }

  function drawing(state, visible, width) {
    const hasValues = (series) => series.y.some((value) => value !== null);
    if (!state.chart.series.some(hasValues)) return nothing(width, "No values.");
    if (!visible.some(hasValues)) return nothing(width, "All series are hidden. Click one above.");
    if (state.chart.kind === "bars") return scenthound.drawBars(state, visible, width);
    return scenthound.drawCurves(state, visible, width);
  }

  scenthound.drawChart = (container, chart) => {
    const state = { chart: null, hidden: new Set(), known: new Set(), isLogX: false, isLogY: false };
    let now = { made: null, stops: [], layer: null };
    setChart(state, chart);
    const { plot, refresh } = chartFrame(container, state, redraw);
    const svg = drawn("svg", { class: "drawing", tabindex: 0, role: "img" });
    plot.append(svg);
    const reading = new Reading(plot, svg, () => now);

    function redraw() {
      const width = scenthound.widthOf(plot);
      const visible = visibleSeries(state);
      const made = drawing(state, visible, width);
      const layer = drawn("g", { class: "layer" });
      svg.setAttribute("viewBox", `0 0 ${width} ${made.area.height}`);
      svg.setAttribute("aria-label", `${state.chart.title}. Arrow keys read the values.`);
      svg.replaceChildren(...made.parts, layer);
      now = { made, layer, stops: made.parts.length > 1 ? stopsOf(state, visible, made) : [] };
      refresh();
      reading.refresh();
    }

    redraw();
    scenthound.onResize(plot, redraw);
    return {
      update: (newer) => {
        setChart(state, newer);
        redraw();
      },
    };
  };
})();
