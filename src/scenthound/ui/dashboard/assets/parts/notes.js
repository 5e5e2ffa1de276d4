// States, problems, commands to copy, confirmations and short messages.

import { pagePath } from "../api.js";
import { button, element, fill, untrusted } from "../dom.js";
import { STATES, isAlive } from "../format.js";

/** A command, with a button that copies it. */
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
    // Without access to the clipboard, the text is selected instead.
    getSelection().selectAllChildren(text);
    copy.textContent = "Selected";
  }
  setTimeout(() => (copy.textContent = "Copy"), 2000);
}

/** A problem, and the command that may help. */
export function problemBox(problem) {
  const text = element("p", {}, linked(problem.message));
  return element("div", { class: "box problem", role: "alert" }, text, problem.command && commandBox(problem.command));
}

// The message about a crawl requested as an experiment, or the reverse, ends with a path.
function linked(message) {
  const found = /^(.* is shown at )\/(crawls|experiments)\/(.+)\.$/s.exec(message);
  if (!found) return untrusted(message);
  const [, text, section, id] = found;
  return [untrusted(text), element("a", { href: pagePath(section, id) }, untrusted(`/${section}/${id}`)), "."];
}

/** A line for one message at a time, announced by screen readers. */
export function messageLine() {
  return element("p", { class: "message", role: "status", "aria-live": "polite" });
}

/** Send a change and show its result in `line`; returns the response, or null if it failed. */
export async function reportResult(line, send) {
  fill(line, "…");
  try {
    const done = await send();
    line.classList.remove("failed");
    fill(line, done.message);
    return done;
  } catch (problem) {
    line.classList.add("failed");
    fill(line, untrusted(problem.message), problem.command && commandBox(problem.command));
    return null;
  }
}

/** Shown where there is no content. */
export function emptyNote(...text) {
  return element("p", { class: "empty" }, ...text);
}

/** Shown where a crawl has no pages. */
export function noPageNote({ state }) {
  return emptyNote(isAlive(state) || state === "not begun" ? "No pages yet." : "No pages were visited.");
}

/** The state of a crawl: a sign and a word, with a tooltip. */
export function stateLabel(state) {
  const { sign, text } = STATES[state] ?? { sign: "?", text: "" };
  const kind = `state ${state.replace(" ", "-")}`;
  return element("span", { class: kind, title: text }, element("span", { "aria-hidden": "true" }, sign), ` ${state}`);
}

/** Ask for confirmation; resolves to true if the reader agrees. Escape is no. */
export function confirmed(question, yes, no) {
  const dialog = element("dialog", { class: "question", "aria-label": question }, element("p", {}, question));
  const refuse = button(no, () => dialog.close(), { autofocus: true });
  const agree = button(yes, () => dialog.close("yes"), { class: "danger" });
  dialog.append(element("div", { class: "choices" }, refuse, agree));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
