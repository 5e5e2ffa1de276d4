// Drawing the plot of a chart: scales, axes, curves with error bands, and bars with whiskers.
//
// `scenthound.drawCurves` and `scenthound.drawBars` return {area, parts, ...}: the layout, and SVG elements.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { drawn, numberText, textWidth, cutTo } = scenthound;
  const STEPS = 8;

  // A step of 1, 2 or 5 times a power of ten, so that about `count` steps fit the span.
  function niceStep(span, count) {
    const rough = span / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].find((each) => each * power >= rough * 0.999) * power;
  }

  // Counts have no ticks between integers.
  const stepOf = (span, count, isInteger) => Math.max(isInteger ? 1 : 0, niceStep(span, count));

  function evenTicks({ low, high, isInteger }, count) {
    const step = stepOf(high - low, count, isInteger);
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    // Products, because sums of steps drift.
    return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
  }

  // Powers of ten; if they are few, also twice and five times these.
  function logTicks({ low, high }, count) {
    const powers = Math.log10(high / low);
    const factors = powers <= count / 3 ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(powers / count));
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high * 1.001; power += 1) {
      if (power % every !== 0) continue;
      for (const factor of factors) {
        const value = factor * 10 ** power;
        if (value >= low * 0.999 && value <= high * 1.001) ticks.push(Number(value.toPrecision(6)));
      }
    }
    return ticks.length > 1 ? ticks : [low, high];
  }

  // An axis over the pixels `from` to `to`. Values below a logarithmic axis are drawn at its start.
  const scale = (axis, from, to, count) => {
    const { low, high, isLog } = axis;
    const turned = isLog ? (value) => Math.log10(Math.max(value, low)) : (value) => value;
    const start = turned(low);
    const span = turned(high) - start || 1;
    return {
      low,
      high,
      isLog,
      at: (value) => from + ((turned(value) - start) / span) * (to - from),
      ticks: isLog ? logTicks(axis, count) : evenTicks(axis, count),
    };
  };

  // The axis for values: its ends, and whether all values are integers.
  const axisOf = (values, isLog, isRounded) => {
    const isInteger = values.every((value) => value === null || Number.isInteger(value));
    const [low, high] = ends(values, isLog, isRounded, isInteger);
    return { low, high, isLog, isInteger };
  };

  // A linear axis starts at zero unless all values are far from it.
  function ends(values, isLog, isRounded, isInteger) {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
      if (value === null || (isLog && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (low > high) return isLog ? [1, 10] : [0, 1];
    if (isLog) return roundedLog(low, high, isRounded);
    if (isRounded && low > 0 && low < 0.7 * high) low = 0;
    if (isRounded && high < 0 && high > 0.7 * low) high = 0;
    if (low === high) [low, high] = low === 0 ? [0, 1] : [Math.min(0, 2 * low), Math.max(0, 2 * high)];
    if (!isRounded) return [low > 0 && low < 0.1 * high ? 0 : low, high];
    const step = stepOf(high - low, STEPS, isInteger);
    return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
  }

  // To the next of 1, 2 and 5 times a power of ten.
  function roundedLog(low, high, isRounded) {
    if (low === high) return [low / 2, high * 2];
    if (!isRounded) return [low, high];
    const below = 10 ** Math.floor(Math.log10(low) + 1e-9);
    const above = 10 ** Math.floor(Math.log10(high) - 1e-9);
    const first = [5, 2, 1].find((each) => each * below <= low * 1.0001) * below;
    const last = [1, 2, 5, 10].find((each) => each * above >= high * 0.9999) * above;
    return [first, last];
  }

  const TOP = 30;
  const BOTTOM = 44;

  // Low and wide, so that a chart and its note fit on the screen.
  const chartHeight = (width) => Math.round(Math.max(250, Math.min(380, width * 0.5)));

  const nTicks = (length, room) => Math.max(2, Math.floor(length / room));

  const tickTexts = (scale) => scale.ticks.map((tick) => numberText(tick));

  // The layout and scales of the x axis `across` and the y axis `up`. The left margin fits its numbers.
  const plotArea = (width, height, across, up) => {
    const y = scale(up, height - BOTTOM, TOP, nTicks(height - TOP - BOTTOM, 42));
    const left = Math.ceil(Math.max(20, ...tickTexts(y).map(textWidth))) + 10;
    const right = width - 16;
    const widest = Math.max(...[across.low, across.high].map((value) => textWidth(numberText(value))));
    const x = scale(across, left, right, nTicks(right - left, widest + 44));
    return { width, height, left, right, top: TOP, bottom: height - BOTTOM, x, y };
  };

  // All values that are drawn, with their errors. If no value is below 0, errors are cut there too.
  const extents = (visible, isLog) => {
    const isAbove = visible.every((series) => series.y.every((y) => y === null || y >= 0));
    return visible.flatMap((series) => series.y.flatMap((y, index) => {
      const error = series.error?.[index] ?? 0;
      if (y === null || error === 0) return [y];
      const low = y - error;
      return isAbove && low <= 0 ? [isLog ? y : 0, y + error] : [low, y + error];
    }));
  };

  function xAxis(area) {
    const texts = tickTexts(area.x);
    return area.x.ticks.flatMap((tick, index) => {
      const at = area.x.at(tick);
      const half = textWidth(texts[index]) / 2;
      // A number at the end would be cut off.
      const within = Math.min(at, area.width - half - 1);
      return [
        drawn("line", { class: "tick", x1: at, x2: at, y1: area.bottom, y2: area.bottom + 4 }),
        drawn("text", { class: "number", x: within, y: area.bottom + 17, "text-anchor": "middle" }, texts[index]),
      ];
    });
  }

  function yAxis(area) {
    const texts = tickTexts(area.y);
    return area.y.ticks.flatMap((tick, index) => {
      const at = area.y.at(tick);
      return [
        drawn("line", { class: "grid", x1: area.left, x2: area.right, y1: at, y2: at }),
        drawn("text", { class: "number", x: area.left - 7, y: at + 4, "text-anchor": "end" }, texts[index]),
      ];
    });
  }

  // The label of the y axis is above it, and not rotated.
  const axisLabels = (area, xLabel, yLabel) => [
    drawn("text", { class: "label", x: 1, y: 13 }, cutTo(yLabel, area.width - 4)),
    drawn("text", { class: "label", x: (area.left + area.right) / 2, y: area.height - 6, "text-anchor": "middle" },
      cutTo(xLabel, area.width - 4)),
  ];

  const labelOf = ((label, scale) => (scale.isLog ? `${label} (log)` : label));

  const axes = (area, chart) => drawn("g", { class: "axes" },
    ...yAxis(area),
    drawn("line", { class: "base", x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom }),
    ...xAxis(area),
    ...axisLabels(area, labelOf(chart.x_label, area.x), labelOf(chart.y_label, area.y)),
  );

  // The parts of a series between its gaps, as lists of indices.
  function pieces(series, isLogX) {
    const found = [];
    let piece = [];
    series.x.forEach((x, index) => {
      const isThere = x !== null && series.y[index] !== null && !(isLogX && x <= 0);
      if (isThere) piece.push(index);
      else if (piece.length) found.push(piece.splice(0));
    });
    if (piece.length) found.push(piece);
    return found;
  }

  const path = (points) =>
    points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

  function band(area, series, piece) {
    const error = (index) => series.error[index] ?? 0;
    const edge = (sign) => piece.map((index) => [
      area.x.at(series.x[index]),
      Math.min(area.bottom, Math.max(area.top, area.y.at(series.y[index] + sign * error(index)))),
    ]);
    return drawn("path", { class: `band ${series.style}`, d: `${path([...edge(1), ...edge(-1).reverse()])}Z` });
  }

  function line(area, series, piece) {
    const points = piece.map((index) => [area.x.at(series.x[index]), area.y.at(series.y[index])]);
    if (points.length > 1) return drawn("path", { class: `line ${series.style}`, d: path(points) });
    return drawn("circle", { class: `dot ${series.style}`, cx: points[0][0], cy: points[0][1], r: 3 });
  }

  function marks(area, markers) {
    return markers.flatMap((mark, index) => {
      if (mark.x === null || mark.x < area.x.low || mark.x > area.x.high) return [];
      const at = area.x.at(mark.x);
      return [
        drawn("line", { class: "mark-line", x1: at, x2: at, y1: area.top, y2: area.bottom }),
        drawn("circle", { class: "mark-flag", cx: at, cy: area.top - 2, r: 8 }),
        drawn("text", { class: "mark-number", x: at, y: area.top + 2, "text-anchor": "middle" }, String(index + 1)),
      ];
    });
  }

  scenthound.drawCurves = (state, visible, width) => {
    const isLogX = state.isLogX && scenthound.whyNotLog(state, "x") === null;
    const isLogY = state.isLogY && scenthound.whyNotLog(state, "y") === null;
    const across = axisOf(visible.flatMap((series) => series.x), isLogX, false);
    const up = axisOf(extents(visible, isLogY), isLogY, true);
    const area = plotArea(width, chartHeight(width), across, up);
    const cut = visible.map((series) => [series, pieces(series, isLogX)]);
    const bands = cut.filter(([series]) => series.error)
      .flatMap(([series, found]) => found.map((piece) => band(area, series, piece)));
    const lines = cut.flatMap(([series, found]) => found.map((piece) => line(area, series, piece)));
    const parts = [axes(area, state.chart), drawn("g", { class: visible.length > 6 ? "many" : "" }, ...bands)];
    parts.push(drawn("g", { class: "marks" }, ...marks(area, state.chart.markers ?? [])), drawn("g", {}, ...lines));
    return { area, parts };
  };

  const HORIZONTAL_TOP = 28;
  const HORIZONTAL_BOTTOM = 42;

  // The bars of one category: value and error, or null.
  function barsAt(visible, index) {
    return visible.map((series) => {
      const at = series.x.indexOf(index);
      const value = at < 0 ? null : series.y[at];
      return { name: series.name, style: series.style, value, error: (value !== null && series.error?.[at]) || null };
    });
  }

  // The axis of values. Bars start at zero, or on a logarithmic axis at the power of ten below.
  function valueAxisOf(visible, isLog) {
    const values = extents(visible, isLog);
    if (!isLog) return axisOf([0, ...values], false, true);
    const axis = axisOf(values, true, true);
    return { ...axis, low: 10 ** Math.floor(Math.log10(axis.low) - 1e-9) };
  }

  // A bar from the axis to its value, and its whisker; `along` is the scale of values.
  function bar(along, isHorizontal, across, thick, { value, error, style }) {
    if (value === null) return [];
    const ends = [along.at(along.isLog ? along.low : 0), along.at(value)].sort((a, b) => a - b);
    const size = { length: Math.max(0.5, ends[1] - ends[0]), thick: Math.max(1, thick) };
    const shape = isHorizontal
      ? { x: ends[0], y: across, width: size.length, height: size.thick }
      : { x: across, y: ends[0], width: size.thick, height: size.length };
    const made = [drawn("rect", { class: `bar ${style}`, ...shape })];
    return error === null ? made : [...made, whisker(along, isHorizontal, across + thick / 2, value, error)];
  }

  function whisker(along, isHorizontal, middle, value, error) {
    const [from, to] = [along.at(Math.max(along.low, value - error)), along.at(value + error)];
    const cap = (at) => (isHorizontal ? `M${at},${middle - 3}v6` : `M${middle - 3},${at}h6`);
    const stem = isHorizontal ? `M${from},${middle}H${to}` : `M${middle},${from}V${to}`;
    return drawn("path", { class: "whisker", d: stem + cap(from) + cap(to) });
  }

  function fitsVertical(categories, width) {
    return categories.length > 0 && Math.max(...categories.map(textWidth)) + 10 <= (width - 60) / categories.length;
  }

  // The positions of the bars of one category.
  function slots(start, room, count) {
    const gap = Math.min(room * 0.28, 28);
    const thick = Math.min((room - gap) / count, 48);
    const first = start + (room - thick * count) / 2;
    return { thick, at: (number) => first + number * thick };
  }

  function vertical(state, visible, width, valueAxis) {
    const categories = state.chart.categories;
    const height = chartHeight(width);
    const area = plotArea(width, height, { low: 0, high: categories.length }, valueAxis);
    const room = (area.right - area.left) / categories.length;
    const base = { ...area, x: { ...area.x, ticks: [] } };
    const bars = categories.flatMap((_, index) => {
      const slot = slots(area.left + index * room, room, visible.length);
      return barsAt(visible, index)
        .flatMap((each, number) => bar(area.y, false, slot.at(number), slot.thick * 0.92, each));
    });
    const names = categories.map((name, index) => drawn("text",
      { class: "number", x: area.left + (index + 0.5) * room, y: area.bottom + 17, "text-anchor": "middle" }, name));
    return { area, room, isHorizontal: false, parts: [axes(base, state.chart), ...bars, ...names] };
  }

  function horizontalArea(state, width, rowHeight, valueAxis, aside) {
    const names = Math.max(...state.chart.categories.map(textWidth));
    const left = Math.min(names + 12, Math.round(width * 0.42));
    const right = width - 18 - aside;
    const bottom = HORIZONTAL_TOP + rowHeight * state.chart.categories.length + 6;
    const count = Math.max(2, Math.floor((right - left) / 70));
    const x = scale(valueAxis, left, right, count);
    return { width, height: bottom + HORIZONTAL_BOTTOM, left, right, top: HORIZONTAL_TOP, bottom, x };
  }

  function horizontalAxes(area, chart) {
    const lines = area.x.ticks.flatMap((tick) => {
      const at = area.x.at(tick);
      return [
        drawn("line", { class: "grid", x1: at, x2: at, y1: area.top, y2: area.bottom }),
        drawn("text", { class: "number", x: at, y: area.bottom + 16, "text-anchor": "middle" }, numberText(tick)),
      ];
    });
    // Horizontal bars have their values along the bottom, so the labels are swapped.
    const labels = axisLabels(area, labelOf(chart.y_label, area.x), chart.x_label);
    return drawn("g", { class: "axes" }, ...lines, ...labels);
  }

  function horizontal(state, visible, width, valueAxis) {
    const rowHeight = Math.max(24, visible.length * 11 + 8);
    const isNumbered = visible.length === 1;
    // Space for the number at the end of the longest bar.
    const aside = isNumbered ? Math.max(...visible[0].y.map((value) => textWidth(numberText(value)))) : 0;
    const area = horizontalArea(state, width, rowHeight, valueAxis, aside);
    const rows = state.chart.categories.flatMap((name, index) => {
      const top = area.top + 3 + index * rowHeight;
      const slot = slots(top, rowHeight, visible.length);
      const values = barsAt(visible, index);
      const bars = values.flatMap((each, number) => bar(area.x, true, slot.at(number), slot.thick * 0.9, each));
      const y = top + rowHeight / 2 + 4;
      const short = cutTo(name, area.left - 10);
      const label = drawn("text", { class: "category", x: area.left - 8, y, "text-anchor": "end" }, short);
      return [label, ...bars, ...(isNumbered ? [endNumber(area, y, values[0])] : [])];
    });
    return { area, room: rowHeight, isHorizontal: true, parts: [horizontalAxes(area, state.chart), ...rows] };
  }

  // The value at the end of a single bar.
  function endNumber(area, y, { value, error }) {
    const x = area.x.at(Math.max(0, (value ?? 0) + (error ?? 0))) + 5;
    return drawn("text", { class: "number", x, y }, numberText(value));
  }

  scenthound.drawBars = (state, visible, width) => {
    const isLog = state.isLogY && scenthound.whyNotLog(state, "y") === null;
    const valueAxis = valueAxisOf(visible, isLog);
    const isVertical = fitsVertical(state.chart.categories, width);
    const made = isVertical ? vertical(state, visible, width, valueAxis) : horizontal(state, visible, width, valueAxis);
    return { ...made, barsAt: (index) => barsAt(visible, index) };
  };
})();
