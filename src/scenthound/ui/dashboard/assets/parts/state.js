// The state of a crawl as a word with a sign.

import { element } from "../dom.js";
import { STATES } from "../format.js";

/** A sign and a word; `says` is what it means, on pointing. */
export function stateWord(state) {
  const { sign, says } = STATES[state] ?? { sign: "?", says: "" };
  const kind = `state ${state.replace(" ", "-")}`;
  return element("span", { class: kind, title: says }, element("span", { "aria-hidden": "true" }, sign), ` ${state}`);
}
