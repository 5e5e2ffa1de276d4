// Moments told as "12 s ago", and kept true: one clock for all of them, exact times on pointing.

import { element } from "./dom.js";
import { ago, sample } from "./format.js";

/** A sample; it is told anew every second for as long as it is on the page. */
export function since(seconds) {
  const exact = new Date(1000 * seconds);
  const made = element("time", { datetime: exact.toISOString(), title: sample(seconds) });
  made.dataset.seconds = seconds;
  tell(made);
  return made;
}

/** Start the clock. */
export function startClock() {
  setInterval(() => {
    if (!document.hidden) document.querySelectorAll("time[data-seconds]").forEach(tell);
  }, 1000);
}

function tell(made) {
  const text = ago(Number(made.dataset.seconds), Date.now() / 1000);
  if (made.textContent !== text) made.textContent = text;
}
