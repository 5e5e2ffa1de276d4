// The first page: the crawls and experiments in the folders that the dashboard was given, looked at again and again.

import { ask, pageAddress } from "../api.js";
import { arrange, element, fill, foreign, section, sendButton, shareBar } from "../dom.js";
import { count, score } from "../format.js";
import { commandBox, emptyNote, problemBox } from "../parts/notes.js";
import { stateWord } from "../parts/state.js";

const AGAIN_MS = 4000;
const MOST_COMPARED = 8;
const CHOOSE = "Choose two or more crawls to see them side by side.";
const KINDS = {
  run: "simulated run", comparison: "comparison", study: "study", search: "genetic search", validation: "validation",
  web: "recorded web",
};

export async function showFolders(place) {
  document.title = "Scenthound";
  const view = new FoldersView(place);
  await view.load();
}

class FoldersView {
  #crawls = element("ul", { class: "cards" });
  #experiments = element("ul", { class: "cards" });
  #unreadable = element("ul", { class: "cards" });
  #lost = element("p", { class: "connection", role: "status" });
  #compare = sendButton("Compare", { disabled: true });
  #hint = element("span", { class: "note" });
  #sections;
  #shown = "";

  constructor(place) {
    const bar = element("div", { class: "compare-bar" }, this.#compare, this.#hint);
    const listens = { submit: (event) => this.#goCompare(event), change: () => this.#chosen() };
    this.#sections = [
      section("Crawls", {}, element("form", listens, this.#crawls, bar)),
      section("Experiments", {}, this.#experiments),
      section("Not readable", {}, this.#unreadable),
    ];
    this.#sections[1].hidden = this.#sections[2].hidden = true;
    fill(place, element("h1", { class: "unseen" }, "Folders"), this.#lost, this.#sections);
  }

  async load() {
    try {
      if (!document.hidden) this.#show((await ask("/api/folders")).folders);
      fill(this.#lost);
    } catch (problem) {
      fill(this.#lost, problem.message);
    }
    setTimeout(() => this.load(), AGAIN_MS);
  }

  #show(folders) {
    const now = JSON.stringify(folders);
    if (now === this.#shown) return;
    this.#shown = now;
    const crawls = folders.filter((folder) => folder.kind === "crawl" && !folder.problem);
    const broken = folders.filter((folder) => folder.problem);
    const others = folders.filter((folder) => folder.kind !== "crawl" && !folder.problem);
    keep(this.#crawls, crawls, crawlCard, noCrawl);
    keep(this.#experiments, others, experimentCard);
    keep(this.#unreadable, broken, unreadableCard);
    this.#sections[1].hidden = !others.length;
    this.#sections[2].hidden = !broken.length;
    this.#compare.parentElement.hidden = crawls.length < 2;
    this.#chosen();
  }

  #ids() {
    return [...this.#crawls.querySelectorAll("input:checked")].map((box) => box.value);
  }

  #chosen() {
    const chosen = this.#ids().length;
    this.#compare.disabled = chosen < 2 || chosen > MOST_COMPARED;
    fill(this.#compare, chosen >= 2 ? `Compare ${chosen} crawls` : "Compare");
    fill(this.#hint, chosen > MOST_COMPARED ? `${MOST_COMPARED} crawls at most.` : chosen >= 2 ? "" : CHOOSE);
  }

  #goCompare(event) {
    event.preventDefault();
    location.assign(`/compare?${new URLSearchParams(this.#ids().map((id) => ["crawl", id]))}`);
  }
}

// What is the same as before stays in its place, cards and parts of cards, with the focus or the tick that it may have.
function keep(list, folders, card, otherwise = () => []) {
  const before = new Map([...list.children].map((made) => [made.dataset.id, made]));
  const cards = folders.map((folder) => kept(before.get(folder.id), card(folder), folder));
  arrange(list, cards.length ? cards : otherwise());
}

function kept(before, parts, folder) {
  const made = before ?? element("li", { class: "card" });
  const old = [...made.children];
  arrange(made, parts.filter(Boolean).map((part, place) => (old[place]?.isEqualNode(part) ? old[place] : part)));
  made.dataset.id = folder.id;
  return made;
}

function crawlCard(folder) {
  const box = element("input", { type: "checkbox", value: folder.id, "aria-label": `Compare ${folder.name}` });
  const budget = folder.page_budget ? ` of ${count(folder.page_budget)}` : "";
  const pages = element("span", { class: "figure" }, `${count(folder.pages)}${budget} pages`);
  const harvest = element("span", { class: "figure" }, `harvest ${score(folder.harvest)}`);
  const share = folder.page_budget ? Math.min(1, folder.pages / folder.page_budget) : 0;
  return [box, titleLink("crawls", folder), folder.state && stateWord(folder.state),
    element("p", { class: "kind" }, foreign(folder.title)), pathLine(folder), shareBar(share),
    element("p", { class: "numbers" }, pages, harvest)];
}

function experimentCard(folder) {
  const kind = element("span", { class: "kind" }, KINDS[folder.kind] ?? folder.kind, " ");
  const title = folder.title !== folder.name && element("p", { class: "kind" }, foreign(folder.title));
  return [titleLink("experiments", folder), kind, folder.state && stateWord(folder.state), title, pathLine(folder)];
}

function unreadableCard(folder) {
  return [element("span", { class: "title" }, foreign(folder.name)), pathLine(folder), problemBox(folder.problem)];
}

function titleLink(part, folder) {
  return element("a", { class: "title", href: pageAddress(part, folder.id) }, foreign(folder.name));
}

function pathLine(folder) {
  return element("p", { class: "path", title: folder.path }, foreign(folder.path));
}

function noCrawl() {
  const says = emptyNote("No crawl here yet. Start one, in a folder that the dashboard looks at:");
  const command = commandBox("scenthound crawl --keywords WORDS --seed URL --contact MAIL --out DIR");
  return [element("li", { class: "card" }, says, command)];
}
