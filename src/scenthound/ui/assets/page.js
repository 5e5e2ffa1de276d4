// The interactive parts of a report: figures, sortable tables, and collapsed sections.
(() => {
  "use strict";
  const { scenthound } = globalThis;
  const { element } = scenthound;

  // The table for readers without scripts stays for screen readers.
  function drawFigure(figure, draw) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const container = element("div");
    figure.append(container);
    figure.classList.add("is-drawn");
    draw(container, data);
  }

  function openForPrint() {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open])")];
      opened.forEach((each) => (each.open = true));
    });
    addEventListener("afterprint", () => opened.forEach((each) => (each.open = false)));
  }

  // A link into a collapsed section opens it.
  function openLinkTargets() {
    const open = () => {
      const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
      const collapsed = target?.closest("details");
      if (collapsed) collapsed.open = true;
    };
    addEventListener("hashchange", open);
    open();
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelector("header").prepend(scenthound.themeSwitch());
    document.querySelectorAll("figure.chart").forEach((figure) => drawFigure(figure, scenthound.drawChart));
    document.querySelectorAll("figure.graph").forEach((figure) => drawFigure(figure, scenthound.drawGraph));
    document.querySelectorAll("table.sortable").forEach(scenthound.makeSortable);
    openForPrint();
    openLinkTargets();
  });
})();
