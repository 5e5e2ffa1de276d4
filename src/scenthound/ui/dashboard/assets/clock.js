// Times such as "12 s ago", updated every second; the tooltip has the exact time.

import { element } from "./dom.js";
import { ago, dateTime } from "./format.js";

/** A time in seconds since 1970. */
export function since(seconds) {
  const exact = new Date(1000 * seconds);
  const made = element("time", { datetime: exact.toISOString(), title: dateTime(seconds) });
  made.dataset.seconds = seconds;
  update(made);
  return made;
}

/** Start the clock. */
export function startClock() {
  setInterval(() => {
    if (!document.hidden) document.querySelectorAll("time[data-seconds]").forEach(update);
  }, 1000);
}

function update(made) {
  const text = ago(Number(made.dataset.seconds), Date.now() / 1000);
  if (made.textContent !== text) made.textContent = text;
}
