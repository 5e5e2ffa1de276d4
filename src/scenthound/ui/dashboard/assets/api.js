// Requests to the server. Changes need the token.
//
// The token is in the fragment of the printed URL. It is stored for this tab and removed from the URL at once, so that it
// is neither copied with a link nor kept in the history.

const TOKEN_KEY = "scenthound-token";
const NO_TOKEN =
  "Read-only: the token is missing. To make changes, open the URL that scenthound dashboard printed.";
const OLD_TOKEN =
  "Read-only: the dashboard was restarted. To make changes, open the new URL, which it printed in its terminal.";
let isTokenOld = false;

/** Why a request failed; `command` may help. */
export class Problem extends Error {
  constructor(message, command = null, status = 0) {
    super(message);
    this.command = command;
    this.status = status;
  }
}

/** Store the token of the URL, if it has one. */
export function takeToken() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (!fragment.has("token")) return;
  sessionStorage.setItem(TOKEN_KEY, fragment.get("token"));
  fragment.delete("token");
  history.replaceState(null, "", location.pathname + location.search + (fragment.size ? `#${fragment}` : ""));
}

/** Why changes are not possible; null if they are. */
export function whyReadOnly() {
  if (sessionStorage.getItem(TOKEN_KEY)) return null;
  return isTokenOld ? OLD_TOKEN : NO_TOKEN;
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

/** Send a change. If the token is rejected, the event `read-only` disables all controls. */
export function change(path, body = {}) {
  const headers = { "Content-Type": "application/json", "X-Scenthound-Token": sessionStorage.getItem(TOKEN_KEY) ?? "" };
  return fetchJson(path, { method: "POST", headers, body: JSON.stringify(body) }).catch(rejected);
}

// Each start has its own token, so a rejected one is from an earlier start.
function rejected(problem) {
  if (problem.status !== 403) throw problem;
  isTokenOld = true;
  sessionStorage.removeItem(TOKEN_KEY);
  document.dispatchEvent(new Event("read-only"));
  throw new Problem("Not done: the dashboard was restarted.", null, problem.status);
}

async function fetchJson(path, options) {
  const response = await fetch(path, options).catch(unreachable);
  const value = await response.json().catch(() => null);
  if (response.ok && value !== null) return value;
  const message = value?.message ?? `The dashboard responded with status ${response.status}.`;
  throw new Problem(message, value?.command, response.status);
}

function unreachable(error) {
  if (error.name === "AbortError") throw error;
  throw new Problem("The dashboard does not respond. Is it still running?", "scenthound dashboard");
}
