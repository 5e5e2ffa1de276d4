// What is told beside the facts: problems, commands to copy, and short messages that screen readers tell too.

import { pageAddress } from "../api.js";
import { button, element, fill, foreign } from "../dom.js";
import { isGoing } from "../format.js";

/** A command to be typed, with a button that copies it. */
export function commandBox(command) {
  const text = element("code", { tabindex: "0" }, command);
  const copy = button("Copy", () => copyText(command, text, copy), { class: "small", title: "Copy the command" });
  return element("div", { class: "command" }, text, copy);
}

async function copyText(command, text, copy) {
  try {
    await navigator.clipboard.writeText(command);
    copy.textContent = "Copied";
  } catch {
    // Without leave to write to the clipboard, the text is marked for the reader to copy.
    getSelection().selectAllChildren(text);
    copy.textContent = "Marked";
  }
  setTimeout(() => (copy.textContent = "Copy"), 2000);
}

/** Why something cannot be shown, and what may help. */
export function problemBox(problem) {
  const says = element("p", {}, linked(problem.message ?? problem.says));
  return element("div", { class: "box problem", role: "alert" }, says, problem.command && commandBox(problem.command));
}

// What the server says of an experiment that is looked for among crawls, or the other way round.
function linked(says) {
  const found = /^(.* is shown at )\/(crawls|experiments)\/(.+)\.$/s.exec(says);
  if (!found) return foreign(says);
  const [, before, place, id] = found;
  return [foreign(before), element("a", { href: pageAddress(place, id) }, foreign(`/${place}/${id}`)), "."];
}

/** A place for one message at a time, told politely. */
export function messagePlace() {
  return element("p", { class: "message", role: "status", "aria-live": "polite" });
}

/** Carry out a change and say in `place` what came of it; answers with the answer, or null if it failed. */
export async function told(place, carryOut, sentence = (done) => done.says) {
  fill(place, "…");
  try {
    const done = await carryOut();
    place.classList.remove("failed");
    fill(place, sentence(done));
    return done;
  } catch (problem) {
    place.classList.add("failed");
    fill(place, foreign(problem.message), problem.command && commandBox(problem.command));
    return null;
  }
}

/** What stands where nothing is yet. */
export function emptyNote(...says) {
  return element("p", { class: "empty" }, ...says);
}

/** What stands where the pages of a crawl would. */
export function noPageNote({ state }) {
  return emptyNote(isGoing(state) || state === "not begun" ? "No page yet." : "It took no page.");
}
