// The hosts of a crawl: recent ones, with their states while it runs, and those with the most pages.

import { ask, ofCrawl, pageAddress } from "../api.js";
import { element, fill, foreign, remark, section, table, tableRow } from "../dom.js";
import { count, counted, duration, isGoing, percent, score } from "../format.js";
import { emptyNote, noPageNote } from "./notes.js";

const SIGNS = { active: "●", waiting: "◔", ready: "○", disabled: "✕" };
const ASKED_COLUMNS = [{ head: "Host", wide: true }, { head: "State" }, { head: "Pages", number: true }];
const TOP_COLUMNS = [
  { head: "Host", wide: true }, { head: "Pages", number: true }, { head: "Mean relevance", number: true }];
// Rows of a table; the API has more.
const MOST_SHOWN = 15;
const AGAIN_MS = 15000;
const READING_MS = 1000;

export class AskedHosts {
  #place = element("div");
  #table = null;
  #isGoing = null;

  constructor() {
    this.element = section("Recent hosts", {}, this.#place);
  }

  // By pages, so that rows rarely move.
  update(crawl) {
    const latest = (crawl.status?.host_statistics ?? []).slice(0, MOST_SHOWN);
    const hosts = latest.sort((one, other) => other.n_pages - one.n_pages);
    if (hosts.length) this.#show(hosts, isGoing(crawl.state));
    else if (!this.#table) fill(this.#place, emptyNote("Shown while a crawl runs."));
  }

  // States mean nothing when no process crawls.
  #show(hosts, going) {
    const columns = going ? ASKED_COLUMNS : ASKED_COLUMNS.filter((column) => column.head !== "State");
    if (going !== this.#isGoing) {
      this.#table = table("Recent hosts", columns, []);
      fill(this.#place, this.#table, !going && remark("At the end of the last run."));
      this.#isGoing = going;
    }
    const row = (asked) => [foreign(asked.host), going && hostState(asked), count(asked.n_pages)].filter(Boolean);
    fill(this.#table.querySelector("tbody"), hosts.map((asked) => tableRow(columns, row(asked))));
  }
}

function hostState(asked) {
  const rest = asked.state === "waiting" && asked.waits_s ? ` ${duration(Math.max(1, asked.waits_s))}` : "";
  const sign = element("span", { "aria-hidden": "true" }, SIGNS[asked.state]);
  return element("span", { class: `host-state ${asked.state}` }, sign, ` ${asked.state}${rest}`);
}

/** The hosts of most pages, counted by the server bit by bit and asked for again now and then. */
export class TopHosts {
  #id;
  #crawl;
  #place = element("div");

  /** `crawl` tells how the crawl stands now. */
  constructor(id, crawl) {
    this.#id = id;
    this.#crawl = crawl;
    this.element = section("Top hosts", {}, this.#place);
    this.#load();
  }

  async #load() {
    const top = document.hidden ? null : await ask(ofCrawl(this.#id, "hosts")).catch(() => null);
    // Whoever is in the table by keyboard stays there.
    if (top && !this.#place.matches(":focus-within")) fill(this.#place, this.#told(top));
    setTimeout(() => this.#load(), top && top.share_read < 1 ? READING_MS : AGAIN_MS);
  }

  #told(top) {
    if (!top.hosts.length) return noPageNote(this.#crawl());
    const most = top.hosts.slice(0, MOST_SHOWN);
    const rows = most.map((host) => [this.#link(host.host), count(host.pages), score(host.mean_relevance)]);
    const read = top.share_read < 1 ? `, ${percent(top.share_read)} of the pages counted so far` : "";
    return [table("Hosts with the most pages", TOP_COLUMNS, rows), remark(`${counted(top.n_hosts, "host")} in all${read}.`)];
  }

  #link(host) {
    const href = `${pageAddress("crawls", this.#id, "pages")}?${new URLSearchParams({ host })}`;
    return element("a", { href, title: "Its pages" }, foreign(host));
  }
}
