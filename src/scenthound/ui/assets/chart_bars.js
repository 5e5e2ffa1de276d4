// Bars with whiskers: upright where the names of all places fit side by side, else lying, a line for each place.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { drawn, numberText, textWidth, cutTo } = scenthound;
  const LYING_TOP = 28;
  const LYING_BOTTOM = 42;

  // What the shown series say of one place: value and error, or null.
  function barsAt(shown, place) {
    return shown.map((series) => {
      const at = series.x.indexOf(place);
      const value = at < 0 ? null : series.y[at];
      return { name: series.name, look: series.look, value, error: (value !== null && series.error?.[at]) || null };
    });
  }

  // The axis of values. Bars begin at zero, on a logarithmic axis at the power of ten below.
  function valueAxisOf(shown, isLog) {
    const values = scenthound.extents(shown, isLog);
    if (!isLog) return scenthound.axisOf([0, ...values], false, true);
    const axis = scenthound.axisOf(values, true, true);
    return { ...axis, low: 10 ** Math.floor(Math.log10(axis.low) - 1e-9) };
  }

  // A bar from the axis to its value, and its whisker; `along` is the scale of values.
  function bar(along, isLying, across, thick, { value, error, look }) {
    if (value === null) return [];
    const ends = [along.at(along.isLog ? along.low : 0), along.at(value)].sort((a, b) => a - b);
    const size = { length: Math.max(0.5, ends[1] - ends[0]), thick: Math.max(1, thick) };
    const place = isLying
      ? { x: ends[0], y: across, width: size.length, height: size.thick }
      : { x: across, y: ends[0], width: size.thick, height: size.length };
    const made = [drawn("rect", { class: `bar ${look}`, ...place })];
    return error === null ? made : [...made, whisker(along, isLying, across + thick / 2, value, error)];
  }

  function whisker(along, isLying, middle, value, error) {
    const [from, to] = [along.at(Math.max(along.low, value - error)), along.at(value + error)];
    const cap = (at) => (isLying ? `M${at},${middle - 3}v6` : `M${middle - 3},${at}h6`);
    const stem = isLying ? `M${from},${middle}H${to}` : `M${middle},${from}V${to}`;
    return drawn("path", { class: "whisker", d: stem + cap(from) + cap(to) });
  }

  function fitsUpright(places, width) {
    return places.length > 0 && Math.max(...places.map(textWidth)) + 10 <= (width - 60) / places.length;
  }

  // Where the bars of one place stand within the room it has.
  function slots(start, room, count) {
    const gap = Math.min(room * 0.28, 28);
    const thick = Math.min((room - gap) / count, 48);
    const first = start + (room - thick * count) / 2;
    return { thick, at: (number) => first + number * thick };
  }

  function upright(state, shown, width, valueAxis) {
    const places = state.chart.categories;
    const height = scenthound.chartHeight(width);
    const area = scenthound.plotArea(width, height, { low: 0, high: places.length }, valueAxis);
    const room = (area.right - area.left) / places.length;
    const base = { ...area, x: { ...area.x, ticks: [] } };
    const bars = places.flatMap((_, place) => {
      const slot = slots(area.left + place * room, room, shown.length);
      return barsAt(shown, place)
        .flatMap((each, number) => bar(area.y, false, slot.at(number), slot.thick * 0.92, each));
    });
    const names = places.map((name, place) => drawn("text",
      { class: "number", x: area.left + (place + 0.5) * room, y: area.bottom + 17, "text-anchor": "middle" }, name));
    return { area, room, isLying: false, parts: [scenthound.axes(base, state.chart), ...bars, ...names] };
  }

  function lyingArea(state, width, rowHeight, valueAxis, aside) {
    const names = Math.max(...state.chart.categories.map(textWidth));
    const left = Math.min(names + 12, Math.round(width * 0.42));
    const right = width - 18 - aside;
    const bottom = LYING_TOP + rowHeight * state.chart.categories.length + 6;
    const count = Math.max(2, Math.floor((right - left) / 70));
    const x = scenthound.scale(valueAxis, left, right, count);
    return { width, height: bottom + LYING_BOTTOM, left, right, top: LYING_TOP, bottom, x };
  }

  function lyingAxes(area, chart) {
    const lines = area.x.ticks.flatMap((tick) => {
      const at = area.x.at(tick);
      return [
        drawn("line", { class: "grid", x1: at, x2: at, y1: area.top, y2: area.bottom }),
        drawn("text", { class: "number", x: at, y: area.bottom + 16, "text-anchor": "middle" }, numberText(tick)),
      ];
    });
    // Lying bars have their values along the bottom, so the labels change places.
    const labels = scenthound.axisLabels(area, scenthound.labelOf(chart.y_label, area.x), chart.x_label);
    return drawn("g", { class: "axes" }, ...lines, ...labels);
  }

  function lying(state, shown, width, valueAxis) {
    const rowHeight = Math.max(24, shown.length * 11 + 8);
    const isNumbered = shown.length === 1;
    // The number at the end of the longest bar needs room.
    const aside = isNumbered ? Math.max(...shown[0].y.map((value) => textWidth(numberText(value)))) : 0;
    const area = lyingArea(state, width, rowHeight, valueAxis, aside);
    const rows = state.chart.categories.flatMap((name, place) => {
      const top = area.top + 3 + place * rowHeight;
      const slot = slots(top, rowHeight, shown.length);
      const told = barsAt(shown, place);
      const bars = told.flatMap((each, number) => bar(area.x, true, slot.at(number), slot.thick * 0.9, each));
      const y = top + rowHeight / 2 + 4;
      const short = cutTo(name, area.left - 10);
      const label = drawn("text", { class: "place", x: area.left - 8, y, "text-anchor": "end" }, short);
      return [label, ...bars, ...(isNumbered ? [endNumber(area, y, told[0])] : [])];
    });
    return { area, room: rowHeight, isLying: true, parts: [lyingAxes(area, state.chart), ...rows] };
  }

  // The value at the end of a bar that stands alone.
  function endNumber(area, y, { value, error }) {
    const x = area.x.at(Math.max(0, (value ?? 0) + (error ?? 0))) + 5;
    return drawn("text", { class: "number", x, y }, numberText(value));
  }

  scenthound.drawBars = (state, shown, width) => {
    const isLog = state.isLogY && scenthound.whyNotLog(state, "y") === null;
    const valueAxis = valueAxisOf(shown, isLog);
    const isUpright = fitsUpright(state.chart.categories, width);
    const made = isUpright ? upright(state, shown, width, valueAxis) : lying(state, shown, width, valueAxis);
    return { ...made, barsAt: (place) => barsAt(shown, place) };
  };
})();
