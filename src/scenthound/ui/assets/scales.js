// From numbers to places on a drawing, and the numbers that are written along an axis.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const STEPS = 8;

  // A step of 1, 2 or 5 times a power of ten, of which about `count` fit a span.
  function niceStep(span, count) {
    const rough = span / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].find((each) => each * power >= rough * 0.999) * power;
  }

  // Between counts, such as those of pages, there is nothing to write.
  const stepOf = (span, count, isWhole) => Math.max(isWhole ? 1 : 0, niceStep(span, count));

  function evenTicks({ low, high, isWhole }, count) {
    const step = stepOf(high - low, count, isWhole);
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    // A product of step and place, because sums of steps drift.
    return Array.from({ length: last - first + 1 }, (_, place) => Number(((first + place) * step).toPrecision(12)));
  }

  // Powers of ten; where there are few of them, also their double and fivefold.
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

  // An axis over the pixels `from` to `to`. Values below a logarithmic one stand at its beginning.
  scenthound.scale = (axis, from, to, count) => {
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

  // The axis for values: its ends, and whether all that stands along it are whole numbers.
  scenthound.axisOf = (values, isLog, isRounded) => {
    const isWhole = values.every((value) => value === null || Number.isInteger(value));
    const [low, high] = ends(values, isLog, isRounded, isWhole);
    return { low, high, isLog, isWhole };
  };

  // A linear axis begins at zero unless all values are far from it.
  function ends(values, isLog, isRounded, isWhole) {
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
    const step = stepOf(high - low, STEPS, isWhole);
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
})();
