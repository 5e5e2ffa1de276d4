// What stands around the drawing of a chart: title, buttons for logarithmic axes, legend, note.
//
// Rules
// - A chart keeps its state in one object: `chart` (what is shown), `hidden` (names of series), `isLogX`, `isLogY`.
// - The parts stay when new data comes, so that whoever is on a button by keyboard stays there.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { element, drawn, button } = scenthound;
  const N_COLOURS = 8;

  // Colours differ less for the colour-blind, and not at all on many printers, so each comes with dashes. After eight
  // both come round again, the dashes one further: no two of 64 look the same. Bars of a later round are lighter.
  scenthound.lookOf = (place) => {
    const round = Math.floor(place / N_COLOURS);
    return `hue-${place % N_COLOURS} dash-${(place + round) % N_COLOURS}${round % 2 ? " again" : ""}`;
  };

  scenthound.shownSeries = (state) =>
    state.chart.series.map((series, place) => ({ ...series, look: scenthound.lookOf(place) }))
      .filter((series) => !state.hidden.has(series.name));

  // Why an axis cannot be logarithmic, or null if it can.
  scenthound.whyNotLog = (state, axis) => {
    const values = scenthound.shownSeries(state).flatMap((series) => series[axis]).filter((value) => value !== null);
    if (axis === "x") return values.some((value) => value > 0) ? null : "No value along the bottom is above 0.";
    if (values.length === 0) return "No values are shown.";
    if (values.every((value) => value > 0)) return null;
    return "A logarithmic axis needs values above 0, and some that are shown are not.";
  };

  // What a series looks like, long enough for its dashes.
  scenthound.swatch = (look, kind) => {
    const [shape, width] = kind === "bars"
      ? [drawn("rect", { class: `bar ${look}`, x: 1, y: 1, width: 12, height: 10 }), 14]
      : [drawn("line", { class: `line ${look}`, x1: 0, x2: 36, y1: 6, y2: 6 }), 36];
    return drawn("svg", { class: "swatch", width, height: 12, "aria-hidden": "true" }, shape);
  };

  function legend(state, redraw) {
    const list = element("div", { class: "legend", role: "group", "aria-label": "Show or hide" });
    let told = "";
    const entry = ({ name }, place) => {
      const made = button("", { value: name }, () => {
        if (!state.hidden.delete(name)) state.hidden.add(name);
        redraw();
      });
      made.append(scenthound.swatch(scenthound.lookOf(place), state.chart.kind), element("span", {}, name));
      return made;
    };
    const refresh = () => {
      const names = JSON.stringify(state.chart.series.map((series) => series.name));
      if (names !== told) list.replaceChildren(...state.chart.series.map(entry));
      told = names;
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
    const told = state.chart.markers ?? [];
    list.hidden = told.length === 0;
    const says = (mark) => `${mark.label} (at ${scenthound.numberText(mark.x)})`;
    list.replaceChildren(...told.map((mark) => element("li", {}, says(mark))));
  }

  // How many are in the picture, if not all are. What can be pressed is no matter for paper.
  function shownCount(state, line) {
    const { series } = state.chart;
    const count = series.filter((each) => !state.hidden.has(each.name)).length;
    line.hidden = count === series.length;
    const how = element("span", { class: "on-screen" }, " Press a name to show or hide it.");
    line.replaceChildren(`${count} of ${series.length} are shown.`, how);
  }

  // Puts the parts into an element; answers with the place for the drawing and a way to bring the parts up to date.
  scenthound.chartFrame = (container, state, redraw) => {
    const title = element("h3");
    const reason = element("p", { class: "reason", role: "status" });
    const say = (text) => (reason.textContent = text);
    const logs = ["x", "y"].map((axis) => logButton(state, axis, redraw, say));
    const { list, refresh: refreshLegend } = legend(state, redraw);
    const count = element("p", { class: "shown-count" });
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
      shownCount(state, count);
      logs.forEach((log) => log.refresh());
      buttons.hidden = logs.every((log) => log.made.hidden);
      markList(state, marks);
    };
    return { plot, refresh };
  };
})();
