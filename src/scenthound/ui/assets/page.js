// A report comes to life: figures are drawn from the data beside them, tables can be sorted, folded parts print open.
(() => {
  "use strict";
  const { scenthound } = globalThis;
  const { element } = scenthound;

  // Draws in a place of its own; the table that stood there stays for those who have the page read to them.
  function drawFigure(figure, draw) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const place = element("div");
    figure.append(place);
    figure.classList.add("is-drawn");
    draw(place, data);
  }

  function openForPrint() {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open])")];
      opened.forEach((each) => (each.open = true));
    });
    addEventListener("afterprint", () => opened.forEach((each) => (each.open = false)));
  }

  // Whoever follows a link into a folded part finds it open.
  function openWhatIsSought() {
    const open = () => {
      const sought = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
      const folded = sought?.closest("details");
      if (folded) folded.open = true;
    };
    addEventListener("hashchange", open);
    open();
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelector("header").prepend(scenthound.themeSwitch());
    document.querySelectorAll("figure.chart").forEach((figure) => drawFigure(figure, scenthound.drawChart));
    document.querySelectorAll("figure.graph").forEach((figure) => drawFigure(figure, scenthound.drawGraph));
    document.querySelectorAll("table.sortable").forEach(scenthound.makeSortable);
    for (const figure of document.querySelectorAll("figure.win-loss")) {
      scenthound.readGrid(figure, JSON.parse(figure.querySelector("script").textContent));
    }
    openForPrint();
    openWhatIsSought();
  });
})();
