// The small parts that everything on a page is made of: elements, numbers as people write them, and what floats.
//
// Texts become elements by textContent alone, so that nothing in them is ever read as HTML.
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

  // An element of HTML, or of a drawing; children are elements and texts.
  scenthound.element = (name, attributes = {}, ...children) =>
    fill(document.createElement(name), attributes, children);
  scenthound.drawn = (name, attributes = {}, ...children) =>
    fill(document.createElementNS(SVG, name), attributes, children);

  scenthound.button = (text, attributes, onClick) => {
    const button = scenthound.element("button", { type: "button", ...attributes }, text);
    button.addEventListener("click", onClick);
    return button;
  };

  // Only http and https become links: a crawled page may have sent anything.
  scenthound.link = (text, url) => {
    if (!/^https?:\/\//i.test(url)) return scenthound.element("span", {}, text);
    return scenthound.element("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text);
  };

  // Four digits that count; thousands are set apart, and what is no number is a dash.
  scenthound.numberText = (value) => {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    if (size > 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(1).replace("-", "−");
    const digits = size >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 };
    return value.toLocaleString("en", digits).replace("-", "−");
  };

  const ruler = document.createElement("canvas").getContext("2d");
  const widths = new Map();

  // How wide a text is on a drawing, in pixels.
  scenthound.textWidth = (text) => {
    if (!widths.has(text)) {
      if (widths.size > 5000) widths.clear();
      ruler.font = "12px system-ui, sans-serif";
      widths.set(text, ruler.measureText(text).width);
    }
    return widths.get(text);
  };

  // A text cut to a width in pixels.
  scenthound.cutTo = (text, width) => {
    if (scenthound.textWidth(text) <= width) return text;
    let kept = text.length;
    while (kept > 1 && scenthound.textWidth(`${text.slice(0, kept)}…`) > width) kept -= 1;
    return `${text.slice(0, kept).trimEnd()}…`;
  };

  // What floats above a figure and says more of the place pointed at; it keeps within the figure's sides.
  scenthound.floating = (container) => {
    const box = scenthound.element("div", { class: "floating", hidden: true, "aria-hidden": "true" });
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

  // Says a sentence to those who have the page read to them.
  scenthound.spoken = (container) => {
    const box = scenthound.element("p", { class: "unseen", "aria-live": "polite" });
    container.append(box);
    return (text) => (box.textContent = text);
  };

  // The width to draw for. What is folded has none yet, and what is moved about may have next to none for a sample.
  scenthound.widthOf = (element) => (element.clientWidth === 0 ? 720 : Math.max(240, element.clientWidth));

  // Calls `redraw` whenever the element has got another width.
  scenthound.onNewWidth = (element, redraw) => {
    let known = element.clientWidth;
    new ResizeObserver(() => {
      if (element.clientWidth === known || element.clientWidth === 0) return;
      known = element.clientWidth;
      redraw();
    }).observe(element);
  };
})();
