// A crawl as it goes on: the server's events, taken up again by themselves when they break off.
//
// A hidden tab does not listen: a browser has six connections to a server, and a crawl that nobody looks at should not
// be read. The first event of each connection has the whole curve, later ones have what is new.

import { extended, noCurves } from "./curves.js";

const AGAIN_MS = 2000;
const LOST = "Connection lost: what is shown may be old. Trying again …";

/** Listen to a crawl. `seen(live, curves)` is called for each event, `connection(says)` when it is
 * lost, with a sentence, and with null when it is there again. */
export class Listener {
  #address;
  #seen;
  #connection;
  #source = null;
  #curves = noCurves();
  #again = 0;

  constructor(address, seen, connection) {
    this.#address = address;
    this.#seen = seen;
    this.#connection = connection;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#leave() : this.#listen()));
    // A page that is left may be kept for the way back; an open stream would forbid that.
    addEventListener("pagehide", () => this.#leave());
    addEventListener("pageshow", () => this.#listen());
    this.#listen();
  }

  #listen() {
    if (this.#source || document.hidden) return;
    this.#source = new EventSource(this.#address);
    this.#source.addEventListener("open", () => this.#begin());
    this.#source.addEventListener("live", (event) => this.#take(JSON.parse(event.data)));
    this.#source.addEventListener("problem", (event) => this.#connection(JSON.parse(event.data).says));
    this.#source.addEventListener("error", () => this.#lost());
  }

  #begin() {
    this.#curves = noCurves();
    this.#connection(null);
  }

  #take(live) {
    this.#curves = extended(this.#curves, live.new);
    this.#seen(live, this.#curves);
  }

  // The browser tries again by itself after a broken line, but not after a refusal.
  #lost() {
    this.#connection(LOST);
    if (this.#source?.readyState !== EventSource.CLOSED) return;
    this.#leave();
    this.#again = setTimeout(() => this.#listen(), AGAIN_MS);
  }

  #leave() {
    clearTimeout(this.#again);
    this.#source?.close();
    this.#source = null;
  }
}
