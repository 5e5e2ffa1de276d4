// The entry point: selects the view for the URL.

import { Problem, whyReadOnly } from "./api.js";
import { startClock } from "./clock.js";
import { loadColumns } from "./columns.js";
import { element, fill } from "./dom.js";
import { problemBox } from "./parts/notes.js";
import { showComparison } from "./views/compare.js";
import { showCrawl } from "./views/crawl.js";
import { showExperiment } from "./views/experiment.js";
import { showFolders } from "./views/folders.js";
import { showPages } from "./views/pages.js";

const VIEWS = [
  [/^\/$/, showFolders],
  [/^\/crawls\/([^/]+)\/?$/, showCrawl],
  [/^\/crawls\/([^/]+)\/pages\/?$/, showPages],
  [/^\/compare\/?$/, showComparison],
  [/^\/experiments\/([^/]+)\/?$/, showExperiment],
];

async function start() {
  const main = document.querySelector("main");
  showReadOnly();
  document.addEventListener("read-only", showReadOnly);
  document.querySelector("#theme").append(globalThis.scenthound.themeSwitch());
  startClock();
  try {
    await loadColumns();
    await show(main);
  } catch (problem) {
    fill(main, problemBox(problem), homeLink());
    if (!(problem instanceof Problem)) throw problem;
  }
}

function showReadOnly() {
  const note = document.querySelector("#read-only");
  fill(note, whyReadOnly());
  note.hidden = whyReadOnly() === null;
}

async function show(main) {
  for (const [pattern, view] of VIEWS) {
    const found = pattern.exec(location.pathname);
    if (found) return view(main, ...found.slice(1).map(decoded));
  }
  return fill(main, problemBox({ message: "There is no page at this URL." }), homeLink());
}

/** A decoded part of the URL. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Problem("There is no page at this URL: it is not valid UTF-8.");
  }
}

function homeLink() {
  return element("p", {}, element("a", { href: "/" }, "All crawls and experiments"));
}

start();
