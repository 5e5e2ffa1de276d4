// Reading values off a chart: by mouse, by touch, and by arrow keys when the drawing has the focus.
//
// What can be read are stops: the places along the bottom axis that have values, or the bars of one place. Each stop
// has a position in pixels, a head, and a row for each shown series.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { element, drawn, numberText } = scenthound;
  const FAR = 1e9;
  const ARROWS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 };
  const KEYS = { ...ARROWS, PageDown: 10, PageUp: -10, Home: -FAR, End: FAR };

  // The value of a series at a place: its own, or between the two beside it; null in a gap and beyond its ends.
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

  function curveStops(state, shown, area) {
    const places = new Set();
    for (const series of shown) series.x.forEach((x, at) => x !== null && series.y[at] !== null && places.add(x));
    const sorted = [...places].filter((x) => !(area.x.isLog && x <= 0)).sort((a, b) => a - b);
    const near = (x) => (state.chart.markers ?? []).filter((mark) => Math.abs(area.x.at(mark.x) - area.x.at(x)) < 6);
    return sorted.map((x) => ({
      at: area.x.at(x),
      head: `${state.chart.x_label}: ${numberText(x)}`,
      rows: () => shown.map((series) => ({ name: series.name, look: series.look, ...valueAt(series, x) })),
      marks: () => near(x).map((mark) => mark.label),
    }));
  }

  function barStops(state, { area, room, isLying, barsAt }) {
    const start = isLying ? area.top + 3 : area.left;
    return state.chart.categories.map((name, place) => ({
      at: start + (place + 0.5) * room,
      head: name,
      rows: () => barsAt(place),
      marks: () => [],
    }));
  }

  scenthound.stopsOf = (state, shown, made) =>
    state.chart.kind === "bars" ? barStops(state, made) : curveStops(state, shown, made.area);

  const told = ({ value, error }) => numberText(value) + (error ? ` ± ${numberText(error)}` : "");

  function rowsOf(stop) {
    const known = stop.rows().filter((row) => row.value !== null);
    return known.sort((a, b) => b.value - a.value);
  }

  function table(rows, kind) {
    return element("table", {}, ...rows.map((row) => {
      const sign = element("td", {}, scenthound.swatch(row.look, kind));
      return element("tr", {}, sign, element("td", {}, row.name), element("td", { class: "figure" }, told(row)));
    }));
  }

  // The line at the place that is read, and a dot on each curve there; or a light ground behind the bars of a place.
  function pointer({ area, room, isLying }, { at }, rows) {
    const half = room / 2;
    const { top, bottom, width } = area;
    if (isLying) return [drawn("rect", { class: "row-read", x: 0, y: at - half, width, height: room })];
    if (room) return [drawn("rect", { class: "row-read", x: at - half, y: top, width: room, height: bottom - top })];
    const dot = (row) => drawn("circle", { class: `dot ${row.look}`, cx: at, cy: area.y.at(row.value), r: 3.5 });
    return [drawn("line", { class: "reading", x1: at, x2: at, y1: top, y2: bottom }), ...rows.map(dot)];
  }

  function nearest(stops, at) {
    let best = 0;
    stops.forEach((stop, place) => {
      if (Math.abs(stop.at - at) < Math.abs(stops[best].at - at)) best = place;
    });
    return best;
  }

  // Makes a drawing readable. `seen()` answers with what is drawn now: {made, stops, layer}.
  scenthound.Reading = class {
    #svg; #seen; #box; #speak; #read = null;

    constructor(plot, svg, seen) {
      this.#svg = svg;
      this.#seen = seen;
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
      this.#seen().layer?.replaceChildren();
    }

    // After a new drawing: the same stop, if there still is one.
    refresh() {
      if (this.#read !== null) this.#show(this.#read);
    }

    // Shows a stop, and answers with what it says.
    #show(place) {
      const { made, stops, layer } = this.#seen();
      if (!stops.length) return this.clear();
      this.#read = Math.max(0, Math.min(stops.length - 1, place));
      const stop = stops[this.#read];
      const rows = rowsOf(stop);
      layer.replaceChildren(...pointer(made, stop, rows));
      const words = [element("p", { class: "head" }, stop.head), table(rows, made.room ? "bars" : "curves")];
      const [left, top] = made.isLying ? [made.area.left + 40, stop.at + 14] : [stop.at, 20];
      this.#box.show(left, top, ...words, ...stop.marks().map((says) => element("p", {}, says)));
      return `${stop.head}. ${rows.map((row) => `${row.name}: ${told(row)}`).join("; ")}`;
    }

    #follow(event) {
      const { made, stops } = this.#seen();
      if (!stops.length) return;
      const sides = this.#svg.getBoundingClientRect();
      const at = made.isLying ? event.clientY - sides.top : event.clientX - sides.left;
      this.#show(nearest(stops, (at * made.area.width) / sides.width));
    }

    #key(event) {
      const step = KEYS[event.key];
      if (event.key === "Escape") this.clear();
      if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const start = this.#read ?? (step > 0 ? -1 : this.#seen().stops.length);
      this.#speak(this.#show(start + step) ?? "");
    }
  };
})();
