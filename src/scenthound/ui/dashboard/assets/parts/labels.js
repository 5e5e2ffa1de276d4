// Labels of pages: relevant, not relevant, or none. All buttons for a page show the same label.

import { change, crawlPath, whyReadOnly } from "../api.js";
import { button, element } from "../dom.js";

const CHOICES = [["Relevant", true], ["Not relevant", false], ["No label", null]];

/** Buttons that label a page; disabled without the token. */
export function labelButtons(id, page) {
  const group = element("div", { class: "labels", role: "group", "aria-label": `Label of visit ${page.visit}` });
  group.dataset.labelOf = page.visit;
  for (const [text, value] of CHOICES) group.append(choice(id, page.visit, text, value));
  group.append(element("span", { class: "failed", role: "status" }));
  show(group, page.label);
  return group;
}

function choice(id, visit, text, value) {
  const made = button(text, () => label(id, visit, value, made), { class: "small" });
  made.dataset.label = value;
  allow(made);
  return made;
}

function allow(made) {
  made.title = whyReadOnly() ?? "";
  made.disabled = whyReadOnly() !== null;
}

document.addEventListener("read-only", () => document.querySelectorAll("[data-label]").forEach(allow));

async function label(id, visit, relevant, made) {
  made.classList.add("waiting");
  try {
    const labels = await change(crawlPath(id, "labels"), { visit, relevant });
    document.querySelectorAll(`[data-label-of="${visit}"]`).forEach((group) => show(group, relevant));
    document.dispatchEvent(new CustomEvent("labelled", { detail: labels }));
  } catch (problem) {
    made.parentElement.lastChild.textContent = problem.message;
  }
  made.classList.remove("waiting");
}

function show(group, value) {
  const isPressed = (made) => String(made.dataset.label === String(value));
  for (const made of group.querySelectorAll("button")) made.setAttribute("aria-pressed", isPressed(made));
  group.lastChild.textContent = "";
}
