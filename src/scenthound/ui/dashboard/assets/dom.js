// Building elements without HTML: texts of crawled pages stay texts.
//
// Rules
// - Attributes are set by `element` only. Functions become event listeners, strings never do.
// - Links lead to pages of the dashboard, to fragments or to http(s); other URLs are left out.
// - Computed sizes are custom properties (`css`): the Content-Security-Policy forbids style attributes.

/** An element with attributes and children: nodes, texts, or nested lists of them; null and false are left out. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(made, name, value);
  made.append(...nodes(children));
  return made;
}

/** Replace all children. */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
  return parent;
}

/** Make these elements the children, in this order. Elements that stay are not removed meanwhile, so they keep the
 * focus. */
export function arrange(parent, children) {
  const staying = new Set(children);
  for (const child of [...parent.children]) if (!staying.has(child)) child.remove();
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  children.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
  // The focused element itself was moved.
  if (focused && focused !== document.activeElement) focused.focus({ preventScroll: true });
}

function nodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

function setAttribute(made, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") made.addEventListener(name, value);
  else if (name === "css") setProperties(made, value);
  else if (name.startsWith("on") || name === "style") throw new Error(`${name} cannot be set from text`);
  else if (name === "href" && !isSafe(String(value))) return;
  else made.setAttribute(name, value === true ? "" : value);
}

function setProperties(made, properties) {
  for (const [name, value] of Object.entries(properties)) made.style.setProperty(name, value);
}

function isSafe(address) {
  return address.startsWith("#") || /^\/(?![/\\])/.test(address) || isWeb(address);
}

function isWeb(address) {
  return /^https?:\/\//i.test(address);
}

/** A text from outside, isolated so that its writing direction does not affect the rest of the page. */
export function untrusted(text, attributes = {}) {
  return element("bdi", attributes, text);
}

/** A link to a crawled page in a new tab; only the text if the URL is not http(s). */
export function externalLink(url, text = url, attributes = {}) {
  if (!isWeb(url)) return untrusted(text, attributes);
  const all = { href: url, target: "_blank", rel: "noopener noreferrer", title: url, ...attributes };
  return element("a", all, untrusted(text));
}

/** The attributes of a link that opens in a new tab. */
export function newTab(href) {
  return { href, target: "_blank", rel: "noopener", title: "Opens in a new tab" };
}

/** A button; `attributes` may include more classes. */
export function button(label, click, { class: kind = "", ...attributes } = {}) {
  return element("button", { type: "button", class: `press ${kind}`, click, ...attributes }, label);
}

/** The submit button of a form. */
export function submitButton(label, attributes = {}) {
  return element("button", { type: "submit", class: "press", ...attributes }, label);
}

/** A small note below figures. */
export function remark(...text) {
  return element("p", { class: "note" }, ...text);
}

/** A bar whose length is a share of the available width. */
export function shareBar(share) {
  return element("span", { class: "share", "aria-hidden": "true", css: { "--share": share.toFixed(4) } });
}

/** A section with a heading. */
export function section(title, attributes, ...children) {
  const head = element("h2", {}, title);
  return element("section", { class: "part", "aria-label": title, ...attributes }, head, ...children);
}

/** Names and values, as a description list. */
export function facts(rows, attributes = {}) {
  const pairs = rows.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  return element("dl", { class: "facts", ...attributes }, pairs);
}

/** A table with `columns`: {head, number, wide}. Rows are lists of cells. */
export function table(caption, columns, rows) {
  const heads = columns.map((column) => element("th", { scope: "col", class: kindOf(column) }, column.head));
  const body = element("tbody", {}, rows.map((row) => tableRow(columns, row)));
  const made = element("table", {}, element("caption", { class: "unseen" }, caption));
  made.append(element("thead", {}, element("tr", {}, heads)), body);
  return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, made);
}

/** A row of such a table. */
export function tableRow(columns, cells) {
  return element("tr", {}, cells.map((cell, index) => element("td", { class: kindOf(columns[index]) }, cell)));
}

function kindOf(column) {
  return column.number ? "number" : column.wide ? "wide" : null;
}
