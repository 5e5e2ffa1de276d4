// Curves with their error bands, gaps where nothing is known, and marks along the bottom axis.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { drawn } = scenthound;

  // The pieces of a series between its gaps, as lists of places in its arrays.
  function pieces(series, isLogX) {
    const found = [];
    let piece = [];
    series.x.forEach((x, place) => {
      const isThere = x !== null && series.y[place] !== null && !(isLogX && x <= 0);
      if (isThere) piece.push(place);
      else if (piece.length) found.push(piece.splice(0));
    });
    if (piece.length) found.push(piece);
    return found;
  }

  const path = (points) =>
    points.map(([x, y], place) => `${place ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

  function band(area, series, piece) {
    const error = (place) => series.error[place] ?? 0;
    const edge = (sign) => piece.map((place) => [
      area.x.at(series.x[place]),
      Math.min(area.bottom, Math.max(area.top, area.y.at(series.y[place] + sign * error(place)))),
    ]);
    return drawn("path", { class: `band ${series.look}`, d: `${path([...edge(1), ...edge(-1).reverse()])}Z` });
  }

  function line(area, series, piece) {
    const points = piece.map((place) => [area.x.at(series.x[place]), area.y.at(series.y[place])]);
    if (points.length > 1) return drawn("path", { class: `line ${series.look}`, d: path(points) });
    return drawn("circle", { class: `dot ${series.look}`, cx: points[0][0], cy: points[0][1], r: 3 });
  }

  function marks(area, told) {
    return told.flatMap((mark, place) => {
      if (mark.x === null || mark.x < area.x.low || mark.x > area.x.high) return [];
      const at = area.x.at(mark.x);
      return [
        drawn("line", { class: "mark-line", x1: at, x2: at, y1: area.top, y2: area.bottom }),
        drawn("circle", { class: "mark-flag", cx: at, cy: area.top - 2, r: 8 }),
        drawn("text", { class: "mark-number", x: at, y: area.top + 2, "text-anchor": "middle" }, String(place + 1)),
      ];
    });
  }

  scenthound.drawCurves = (state, shown, width, height) => {
    const isLogX = state.isLogX && scenthound.whyNotLog(state, "x") === null;
    const isLogY = state.isLogY && scenthound.whyNotLog(state, "y") === null;
    const across = scenthound.axisOf(shown.flatMap((series) => series.x), isLogX, false);
    const up = scenthound.axisOf(scenthound.extents(shown, isLogY), isLogY, true);
    const area = scenthound.plotArea(width, height, across, up);
    const cut = shown.map((series) => [series, pieces(series, isLogX)]);
    const bands = cut.filter(([series]) => series.error)
      .flatMap(([series, found]) => found.map((piece) => band(area, series, piece)));
    const lines = cut.flatMap(([series, found]) => found.map((piece) => line(area, series, piece)));
    const parts = [scenthound.axes(area, state.chart), drawn("g", { class: shown.length > 6 ? "many" : "" }, ...bands)];
    parts.push(drawn("g", { class: "marks" }, ...marks(area, state.chart.markers ?? [])), drawn("g", {}, ...lines));
    return { area, parts };
  };
})();
