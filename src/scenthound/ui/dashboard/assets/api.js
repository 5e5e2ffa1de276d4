// Requests to the server, which the browser's cookie authorizes. The page itself never has the token.
//
// Without the cookie there is no page, unless everyone may read; a header of the responses says so.

const READ_ONLY_HEADER = "X-Scenthound-Read-Only";
const NO_TOKEN =
  "Read-only: the token is missing. To make changes, open the URL that scenthound dashboard printed.";
const OLD_TOKEN =
  "Read-only: the dashboard was restarted. To continue, open the new URL, which it printed in its terminal.";
const RESTARTED = "The dashboard was restarted: open the new URL, which it printed in its terminal.";
let readOnly = null;

/** Why a request failed; `command` may help. */
export class Problem extends Error {
  constructor(message, command = null, status = 0) {
    super(message);
    this.command = command;
    this.status = status;
  }
}

/** Why changes are not possible; null if they are. */
export function whyReadOnly() {
  return readOnly;
}

/** The API path of a crawl. */
export function crawlPath(id, ...parts) {
  return pagePath("api", "crawls", id, ...parts);
}

/** The path of a page of the dashboard, such as /crawls/balloons/pages. */
export function pagePath(...parts) {
  return `/${parts.map(encodeURIComponent).join("/")}`;
}

/** The response to a GET request. Parameters that are null or empty are left out; each item of a list is one parameter. */
export function get(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const item of [value].flat()) if (item !== null && item !== undefined && item !== "") query.append(name, item);
  }
  return fetchJson(query.size ? `${path}?${query}` : path, { signal });
}

/** Send a change. */
export function change(path, body = {}) {
  return fetchJson(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

/** Throws a Problem if the dashboard does not respond, or has been restarted. */
export function checkConnection() {
  return get("/api/columns");
}

async function fetchJson(path, options) {
  const response = await fetch(path, options).catch(unreachable);
  updateAccess(response);
  const value = await response.json().catch(() => null);
  if (response.ok && value !== null) return value;
  if (response.status === 401) throw new Problem(RESTARTED, null, response.status);
  const message = value?.message ?? `The dashboard responded with status ${response.status}.`;
  throw new Problem(message, value?.command, response.status);
}

// Each start has its own token, so a rejected cookie is from an earlier start. The event `read-only` disables or enables
// all controls.
function updateAccess(response) {
  const now = response.status === 401 ? OLD_TOKEN : response.headers.has(READ_ONLY_HEADER) ? NO_TOKEN : null;
  if (now === readOnly) return;
  readOnly = now;
  document.dispatchEvent(new Event("read-only"));
}

function unreachable(error) {
  if (error.name === "AbortError") throw error;
  throw new Problem("The dashboard does not respond. Is it still running?", "scenthound dashboard");
}
