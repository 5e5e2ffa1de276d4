// Numbers, times and states as text.

const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const NONE = "–";

/** The states of a crawl: a sign, so that colour is not the only difference, and a description. */
export const STATES = {
  running: { sign: "●", text: "The crawl is running." },
  paused: { sign: "‖", text: "The crawl is paused." },
  ending: { sign: "◌", text: "The crawl is about to end." },
  ended: { sign: "✓", text: "The crawl has ended." },
  stopped: { sign: "■", text: "The crawl was stopped and can be resumed." },
  failed: { sign: "✕", text: "The crawl failed." },
  refreshing: { sign: "↻", text: "The crawl has ended, and its pages are being checked again." },
  died: { sign: "✕", text: "The crawl's process died." },
  "not begun": { sign: "○", text: "The crawl has not started." },
};

/** Whether a process crawls. */
export function isAlive(state) {
  return state === "running" || state === "paused" || state === "ending";
}

/** 12,345 */
export function count(number) {
  return isNumber(number) ? COUNT.format(number) : NONE;
}

/** One page, 12 pages. */
export function counted(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** A relevance, harvest or score: 0.123, 12.3, 1,234, or 2.8e−6 for very small ones. */
export function score(number) {
  if (!isNumber(number)) return NONE;
  const size = Math.abs(number);
  if (size >= 1000) return count(number);
  if (size > 0 && size < 0.001) return number.toExponential(1).replaceAll("-", "−");
  return number.toFixed(size >= 10 ? 1 : 3);
}

/** 0.42, 3.1, 120 pages per second. */
export function speed(number) {
  if (!isNumber(number)) return NONE;
  return number >= 100 ? count(number) : number.toFixed(number >= 10 ? 1 : 2);
}

/** 4.20/s */
export function rate(number) {
  return isNumber(number) ? `${speed(number)}/s` : NONE;
}

/** 42 % */
export function percent(share) {
  return isNumber(share) ? `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %` : NONE;
}

/** (21 to 70 %); empty if it is unknown */
export function percentRange(low, high) {
  return isNumber(low) ? `(${Math.round(100 * low)} to ${Math.round(100 * high)} %)` : "";
}

/** 12 s, 3 min, 2 h 5 min, 3 d 4 h */
export function duration(seconds) {
  if (!isNumber(seconds)) return NONE;
  const rounded = Math.max(0, Math.round(seconds));
  if (rounded < 60) return `${rounded} s`;
  const minutes = Math.round(rounded / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? joined(hours, "h", minutes % 60, "min") : joined(Math.floor(hours / 24), "d", hours % 24, "h");
}

function joined(large, largeUnit, small, smallUnit) {
  return small ? `${large} ${largeUnit} ${small} ${smallUnit}` : `${large} ${largeUnit}`;
}

/** "12 s ago"; never in the future, even if clocks differ a little. */
export function ago(seconds, now) {
  const passed = now - seconds;
  return passed < 1.5 ? "just now" : `${duration(passed)} ago`;
}

/** Date and time in the reader's time zone. */
export function dateTime(seconds) {
  return new Date(1000 * seconds).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "long" });
}

/** 812 bytes, 22 KB, 1.4 MB */
export function bytes(number) {
  if (number < 1000) return counted(number, "byte");
  return number < 1e6 ? `${Math.round(number / 1e3)} KB` : `${(number / 1e6).toFixed(1)} MB`;
}

/** A suitable unit for a time axis of this length, and its seconds. */
export function timeUnit(seconds) {
  if (seconds >= 3 * 86400) return { name: "days", seconds: 86400 };
  if (seconds >= 3 * 3600) return { name: "hours", seconds: 3600 };
  return seconds >= 300 ? { name: "minutes", seconds: 60 } : { name: "seconds", seconds: 1 };
}

/** A path quoted for a shell. */
export function shellWord(path) {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'"'"'`)}'`;
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}
