// The first page: crawls and experiments, refreshed regularly.

import { get, pagePath } from "../api.js";
import { arrange, element, fill, section, shareBar, submitButton, untrusted } from "../dom.js";
import { count, score } from "../format.js";
import { commandBox, emptyNote, problemBox, stateLabel } from "../parts/notes.js";

const REFRESH_MS = 4000;
const MAX_COMPARED = 8;
const CHOOSE = "Select two or more crawls to compare them.";
const KINDS = {
  run: "simulated run", comparison: "comparison", study: "study", search: "search", validation: "validation",
  web: "recorded web",
};

export async function showFolders(main) {
  document.title = "Scenthound";
  const view = new FoldersView(main);
  await view.load();
}

class FoldersView {
  #crawls = element("ul", { class: "cards" });
  #experiments = element("ul", { class: "cards" });
  #unreadable = element("ul", { class: "cards" });
  #lost = element("p", { class: "connection", role: "status" });
  #compare = submitButton("Compare", { disabled: true });
  #hint = element("span", { class: "note" });
  #sections;
  #current = "";

  constructor(main) {
    const bar = element("div", { class: "compare-bar" }, this.#compare, this.#hint);
    const listens = { submit: (event) => this.#goCompare(event), change: () => this.#updateSelection() };
    this.#sections = [
      section("Crawls", {}, element("form", listens, this.#crawls, bar)),
      section("Experiments", {}, this.#experiments),
      section("Unreadable", {}, this.#unreadable),
    ];
    this.#sections[1].hidden = this.#sections[2].hidden = true;
    fill(main, element("h1", { class: "unseen" }, "Folders"), this.#lost, this.#sections);
  }

  async load() {
    try {
      if (!document.hidden) this.#show((await get("/api/folders")).folders);
      fill(this.#lost);
    } catch (problem) {
      fill(this.#lost, problem.message);
    }
    setTimeout(() => this.load(), REFRESH_MS);
  }

  #show(folders) {
    const next = JSON.stringify(folders);
    if (next === this.#current) return;
    this.#current = next;
    const crawls = folders.filter((folder) => folder.kind === "crawl" && !folder.problem);
    const broken = folders.filter((folder) => folder.problem);
    const others = folders.filter((folder) => folder.kind !== "crawl" && !folder.problem);
    updateCards(this.#crawls, crawls, crawlCard, noCrawl);
    updateCards(this.#experiments, others, experimentCard);
    updateCards(this.#unreadable, broken, unreadableCard);
    this.#sections[1].hidden = !others.length;
    this.#sections[2].hidden = !broken.length;
    this.#compare.parentElement.hidden = crawls.length < 2;
    this.#updateSelection();
  }

  #ids() {
    return [...this.#crawls.querySelectorAll("input:checked")].map((box) => box.value);
  }

  #updateSelection() {
    const selected = this.#ids().length;
    this.#compare.disabled = selected < 2 || selected > MAX_COMPARED;
    fill(this.#compare, selected >= 2 ? `Compare ${selected} crawls` : "Compare");
    fill(this.#hint, selected > MAX_COMPARED ? `${MAX_COMPARED} crawls at most.` : selected >= 2 ? "" : CHOOSE);
  }

  #goCompare(event) {
    event.preventDefault();
    location.assign(`/compare?${new URLSearchParams(this.#ids().map((id) => ["crawl", id]))}`);
  }
}

// Unchanged cards and parts of cards stay in the document, so that they keep the focus and their check mark.
function updateCards(list, folders, card, otherwise = () => []) {
  const before = new Map([...list.children].map((made) => [made.dataset.id, made]));
  const cards = folders.map((folder) => updatedCard(before.get(folder.id), card(folder), folder));
  arrange(list, cards.length ? cards : otherwise());
}

function updatedCard(before, parts, folder) {
  const made = before ?? element("li", { class: "card" });
  const old = [...made.children];
  arrange(made, parts.filter(Boolean).map((part, index) => (old[index]?.isEqualNode(part) ? old[index] : part)));
  made.dataset.id = folder.id;
  return made;
}

function crawlCard(folder) {
  const box = element("input", { type: "checkbox", value: folder.id, "aria-label": `Compare ${folder.name}` });
  const budget = folder.page_budget ? ` of ${count(folder.page_budget)}` : "";
  const pages = element("span", { class: "figure" }, `${count(folder.pages)}${budget} pages`);
  const harvest = element("span", { class: "figure" }, `harvest ${score(folder.harvest)}`);
  const hasOnTopic = folder.n_on_topic !== null && folder.pages > 0;
  const onTopic = hasOnTopic && element("span", { class: "figure" }, `${count(folder.n_on_topic)} on topic`);
  const share = folder.page_budget ? Math.min(1, folder.pages / folder.page_budget) : 0;
  return [box, titleLink("crawls", folder), folder.state && stateLabel(folder.state),
    element("p", { class: "kind" }, untrusted(folder.title)), pathLine(folder), shareBar(share),
    element("p", { class: "numbers" }, pages, onTopic, harvest)];
}

function experimentCard(folder) {
  const kind = element("span", { class: "kind" }, KINDS[folder.kind] ?? folder.kind, " ");
  const title = folder.title !== folder.name && element("p", { class: "kind" }, untrusted(folder.title));
  return [titleLink("experiments", folder), kind, folder.state && stateLabel(folder.state), title, pathLine(folder)];
}

function unreadableCard(folder) {
  return [element("span", { class: "title" }, untrusted(folder.name)), pathLine(folder), problemBox(folder.problem)];
}

function titleLink(part, folder) {
  return element("a", { class: "title", href: pagePath(part, folder.id) }, untrusted(folder.name));
}

function pathLine(folder) {
  return element("p", { class: "path", title: folder.path }, untrusted(folder.path));
}

function noCrawl() {
  const text = emptyNote("There are no crawls yet. Start one in a folder that the dashboard shows:");
  const command = commandBox("scenthound crawl --keywords WORDS --seed URL --contact MAIL --out DIR");
  return [element("li", { class: "card" }, text, command)];
}
