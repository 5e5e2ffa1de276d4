// Where the pages begin: which view an address asks for, and what all of them share.

import { Problem, takeToken, whyReadOnly } from "./api.js";
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

async function begin() {
  takeToken();
  // A token may be pasted into the address of a page that is open.
  addEventListener("hashchange", () => /(^#|&)token=/.test(location.hash) && location.reload());
  const place = document.querySelector("main");
  tellReadOnly();
  document.addEventListener("read-only", tellReadOnly);
  document.querySelector("#theme").append(globalThis.scenthound.themeSwitch());
  startClock();
  try {
    await loadColumns();
    await show(place);
  } catch (problem) {
    fill(place, problemBox(problem), wayBack());
    if (!(problem instanceof Problem)) throw problem;
  }
}

function tellReadOnly() {
  const note = document.querySelector("#read-only");
  fill(note, whyReadOnly());
  note.hidden = whyReadOnly() === null;
}

async function show(place) {
  for (const [form, view] of VIEWS) {
    const found = form.exec(location.pathname);
    if (found) return view(place, ...found.slice(1).map(decoded));
  }
  return fill(place, problemBox({ says: "There is no page at this address." }), wayBack());
}

/** A part of the address; one that stands for no text names nothing. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Problem("There is no page at this address: a part of it stands for no text.");
  }
}

function wayBack() {
  return element("p", {}, element("a", { href: "/" }, "All crawls and experiments"));
}

begin();
