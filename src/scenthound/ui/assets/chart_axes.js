// The axes of a chart: room at its sides, grid lines, numbers and labels.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { drawn, numberText, textWidth } = scenthound;
  const TOP = 30;
  const BOTTOM = 44;

  // Low and wide, so that a chart and what is said of it are seen together.
  scenthound.chartHeight = (width) => Math.round(Math.max(250, Math.min(380, width * 0.5)));

  const nTicks = (length, room) => Math.max(2, Math.floor(length / room));

  const tickTexts = (scale) => scale.ticks.map((tick) => numberText(tick));

  // Room and scales for the axes `across` and `up`. The left side is as wide as the numbers along it.
  scenthound.plotArea = (width, height, across, up) => {
    const y = scenthound.scale(up, height - BOTTOM, TOP, nTicks(height - TOP - BOTTOM, 42));
    const left = Math.ceil(Math.max(20, ...tickTexts(y).map(textWidth))) + 10;
    const right = width - 16;
    const widest = Math.max(...[across.low, across.high].map((value) => textWidth(numberText(value))));
    const x = scenthound.scale(across, left, right, nTicks(right - left, widest + 44));
    return { width, height, left, right, top: TOP, bottom: height - BOTTOM, x, y };
  };

  // What is drawn of series, errors and all. Where no value is below 0 an error does not lead there either.
  scenthound.extents = (shown, isLog) => {
    const isAbove = shown.every((series) => series.y.every((y) => y === null || y >= 0));
    return shown.flatMap((series) => series.y.flatMap((y, place) => {
      const error = series.error?.[place] ?? 0;
      if (y === null || error === 0) return [y];
      const low = y - error;
      return isAbove && low <= 0 ? [isLog ? y : 0, y + error] : [low, y + error];
    }));
  };

  function xAxis(area) {
    const texts = tickTexts(area.x);
    return area.x.ticks.flatMap((tick, place) => {
      const at = area.x.at(tick);
      const half = textWidth(texts[place]) / 2;
      // A number at the very end would be cut off.
      const within = Math.min(at, area.width - half - 1);
      return [
        drawn("line", { class: "tick", x1: at, x2: at, y1: area.bottom, y2: area.bottom + 4 }),
        drawn("text", { class: "number", x: within, y: area.bottom + 17, "text-anchor": "middle" }, texts[place]),
      ];
    });
  }

  function yAxis(area) {
    const texts = tickTexts(area.y);
    return area.y.ticks.flatMap((tick, place) => {
      const at = area.y.at(tick);
      return [
        drawn("line", { class: "grid", x1: area.left, x2: area.right, y1: at, y2: at }),
        drawn("text", { class: "number", x: area.left - 7, y: at + 4, "text-anchor": "end" }, texts[place]),
      ];
    });
  }

  // The label of the upright axis stands above it, so that nobody has to turn the head.
  scenthound.axisLabels = (area, xLabel, yLabel) => [
    drawn("text", { class: "label", x: 1, y: 13 }, scenthound.cutTo(yLabel, area.width - 4)),
    drawn("text", { class: "label", x: (area.left + area.right) / 2, y: area.height - 6, "text-anchor": "middle" },
      scenthound.cutTo(xLabel, area.width - 4)),
  ];

  const labelOf = (scenthound.labelOf = (label, scale) => (scale.isLog ? `${label} (log)` : label));

  scenthound.axes = (area, chart) => drawn("g", { class: "axes" },
    ...yAxis(area),
    drawn("line", { class: "base", x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom }),
    ...xAxis(area),
    ...scenthound.axisLabels(area, labelOf(chart.x_label, area.x), labelOf(chart.y_label, area.y)),
  );
})();
