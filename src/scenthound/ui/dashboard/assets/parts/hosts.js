// The hosts of a crawl: recent ones, with their states while it runs, and those with the most pages.

import { crawlPath, get, pagePath } from "../api.js";
import { element, fill, remark, section, table, tableRow, untrusted } from "../dom.js";
import { count, counted, duration, isAlive, score } from "../format.js";
import { emptyNote, noPageNote } from "./notes.js";

const SIGNS = { active: "●", waiting: "◔", ready: "○", disabled: "✕" };
const RECENT_COLUMNS = [{ head: "Host", wide: true }, { head: "State" }, { head: "Pages", number: true }];
const TOP_COLUMNS = [
  { head: "Host", wide: true }, { head: "Pages", number: true }, { head: "Mean relevance", number: true }];
const MAX_ROWS = 15;
const REFRESH_MS = 15000;

export class RecentHosts {
  #content = element("div");
  #table = null;
  #isAlive = null;

  constructor() {
    this.element = section("Recent hosts", {}, this.#content);
  }

  // Ordered by pages, so that rows rarely move.
  update(crawl) {
    const latest = (crawl.status?.host_statistics ?? []).slice(0, MAX_ROWS);
    const hosts = latest.sort((one, other) => other.n_pages - one.n_pages);
    if (hosts.length) this.#show(hosts, isAlive(crawl.state));
    else if (!this.#table) fill(this.#content, emptyNote("Available while the crawl runs."));
  }

  // States mean nothing when no process crawls.
  #show(hosts, alive) {
    const columns = alive ? RECENT_COLUMNS : RECENT_COLUMNS.filter((column) => column.head !== "State");
    if (alive !== this.#isAlive) {
      this.#table = table("Recent hosts", columns, []);
      fill(this.#content, this.#table, !alive && remark("At the end of the last run."));
      this.#isAlive = alive;
    }
    const row = (host) => [untrusted(host.host), alive && hostState(host), count(host.n_pages)].filter(Boolean);
    fill(this.#table.querySelector("tbody"), hosts.map((host) => tableRow(columns, row(host))));
  }
}

function hostState(host) {
  const time = host.state === "waiting" && host.waits_s ? ` ${duration(Math.max(1, host.waits_s))}` : "";
  const sign = element("span", { "aria-hidden": "true" }, SIGNS[host.state]);
  return element("span", { class: `host-state ${host.state}` }, sign, ` ${host.state}${time}`);
}

/** The hosts with most pages, refreshed regularly. */
export class TopHosts {
  #id;
  #crawl;
  #content = element("div");

  /** `crawl` returns the current state. */
  constructor(id, crawl) {
    this.#id = id;
    this.#crawl = crawl;
    this.element = section("Top hosts", {}, this.#content);
    this.#load();
  }

  async #load() {
    const top = document.hidden ? null : await get(crawlPath(this.#id, "hosts")).catch(() => null);
    // Do not take the focus from a link in the table.
    if (top && !this.#content.matches(":focus-within")) fill(this.#content, this.#table(top));
    setTimeout(() => this.#load(), REFRESH_MS);
  }

  #table(top) {
    if (!top.hosts.length) return noPageNote(this.#crawl());
    const hosts = top.hosts.slice(0, MAX_ROWS);
    const rows = hosts.map((host) => [this.#link(host.host), count(host.pages), score(host.mean_relevance)]);
    return [table("Hosts with the most pages", TOP_COLUMNS, rows), remark(`${counted(top.n_hosts, "host")} in total.`)];
  }

  #link(host) {
    const href = `${pagePath("crawls", this.#id, "pages")}?${new URLSearchParams({ host })}`;
    return element("a", { href, title: "Pages of this host" }, untrusted(host));
  }
}
