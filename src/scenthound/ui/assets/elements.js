// Elements, number formatting and tooltips, shared by the scripts of reports and of the dashboard.
//
// Texts are never parsed as HTML.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const SVG = "http://www.w3.org/2000/svg";

  function fill(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children);
    return made;
  }

  // An HTML or SVG element; children are elements and texts.
  const element = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
  scenthound.element = element;
  scenthound.drawn = (name, attributes = {}, ...children) =>
    fill(document.createElementNS(SVG, name), attributes, children);

  scenthound.button = (text, attributes, onClick) => {
    const button = element("button", { type: "button", ...attributes }, text);
    button.addEventListener("click", onClick);
    return button;
  };

  // Only http and https URLs become links.
  scenthound.link = (text, url) => {
    if (!/^https?:\/\//i.test(url)) return element("span", {}, text);
    return element("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text);
  };

  // Four significant digits, with thousands separators; a dash if it is not a number.
  scenthound.numberText = (value) => {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    if (size > 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(1).replace("-", "−");
    const digits = size >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 };
    return value.toLocaleString("en", digits).replace("-", "−");
  };

  const ruler = document.createElement("canvas").getContext("2d");
  const widths = new Map();

  // The width of a text in pixels.
  const textWidth = (text) => {
    if (!widths.has(text)) {
      if (widths.size > 5000) widths.clear();
      ruler.font = "12px system-ui, sans-serif";
      widths.set(text, ruler.measureText(text).width);
    }
    return widths.get(text);
  };
  scenthound.textWidth = textWidth;

  // A text cut to a width in pixels.
  scenthound.cutTo = (text, width) => {
    if (textWidth(text) <= width) return text;
    let { length } = text;
    while (length > 1 && textWidth(`${text.slice(0, length)}…`) > width) length -= 1;
    return `${text.slice(0, length).trimEnd()}…`;
  };

  // A tooltip above a figure; it stays within the figure.
  scenthound.floating = (container) => {
    const box = element("div", { class: "floating", hidden: true, "aria-hidden": "true" });
    container.append(box);
    return {
      hide: () => (box.hidden = true),
      show: (x, y, ...content) => {
        box.replaceChildren(...content);
        box.hidden = false;
        const room = container.clientWidth - box.offsetWidth;
        const beside = x + 16 > room ? x - box.offsetWidth - 16 : x + 16;
        const left = Math.max(0, Math.min(beside, room));
        box.style.setProperty("transform", `translate(${Math.round(left)}px, ${Math.round(Math.max(0, y))}px)`);
      },
    };
  };

  // A function that announces a text to screen readers.
  scenthound.spoken = (container) => {
    const box = element("p", { class: "unseen", "aria-live": "polite" });
    container.append(box);
    return (text) => (box.textContent = text);
  };

  // The width to draw for; a collapsed element has none yet.
  scenthound.widthOf = (element) => (element.clientWidth === 0 ? 720 : Math.max(240, element.clientWidth));

  // Calls `redraw` when the width of the element changes.
  scenthound.onResize = (element, redraw) => {
    let known = element.clientWidth;
    new ResizeObserver(() => {
      if (element.clientWidth === known || element.clientWidth === 0) return;
      known = element.clientWidth;
      redraw();
    }).observe(element);
  };
})();
