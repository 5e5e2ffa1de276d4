// Live updates of a crawl by server-sent events; reconnects after errors.
//
// A hidden tab disconnects, because a browser has only six connections to a server. The first event of a connection has
// the complete curves, later ones the new points.

import { checkConnection } from "./api.js";
import { extended, noCurves } from "./curves.js";

const REFRESH_MS = 2000;
const LOST = "Connection lost: this page may be out of date. Reconnecting …";

/** Calls `onUpdate(live, curves)` for each event, and `onConnection(message)` when the connection is lost; with null when
 * it is restored. */
export class Listener {
  #path;
  #onUpdate;
  #onConnection;
  #source = null;
  #curves = noCurves();
  #retry = 0;

  constructor(path, onUpdate, onConnection) {
    this.#path = path;
    this.#onUpdate = onUpdate;
    this.#onConnection = onConnection;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#disconnect() : this.#connect()));
    // An open stream would keep the page out of the back/forward cache.
    addEventListener("pagehide", () => this.#disconnect());
    addEventListener("pageshow", () => this.#connect());
    this.#connect();
  }

  #connect() {
    if (this.#source || document.hidden) return;
    this.#source = new EventSource(this.#path);
    this.#source.addEventListener("open", () => this.#opened());
    this.#source.addEventListener("live", (event) => this.#receive(JSON.parse(event.data)));
    this.#source.addEventListener("problem", (event) => this.#onConnection(JSON.parse(event.data).message));
    this.#source.addEventListener("error", () => this.#lost());
  }

  #opened() {
    this.#curves = noCurves();
    this.#onConnection(null);
  }

  #receive(live) {
    this.#curves = extended(this.#curves, live.new);
    this.#onUpdate(live, this.#curves);
  }

  // The browser reconnects by itself after a broken connection, but not after an error response.
  #lost() {
    this.#onConnection(LOST);
    if (this.#source?.readyState !== EventSource.CLOSED) return;
    this.#disconnect();
    this.#retry = setTimeout(() => this.#reconnect(), REFRESH_MS);
  }

  // The source does not tell which error response it was; another request does.
  async #reconnect() {
    try {
      await checkConnection();
      this.#connect();
    } catch (problem) {
      this.#onConnection(problem.message);
      this.#retry = setTimeout(() => this.#reconnect(), REFRESH_MS);
    }
  }

  #disconnect() {
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = null;
  }
}
