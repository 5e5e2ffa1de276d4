// Light, dark, or as the system is set: a switch, and what was chosen is kept where the browser allows it.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const CHOICES = [["light", "Light"], ["dark", "Dark"], ["", "Auto"]];
  const KEY = "scenthound-theme";

  // A page in a sandbox, or a browser that keeps nothing, throws instead of answering.
  function kept() {
    try {
      return localStorage.getItem(KEY) ?? "";
    } catch {
      return "";
    }
  }

  function keep(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // It holds until the page is left.
    }
  }

  function apply(theme) {
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  }

  // Three buttons, of which one is pressed.
  scenthound.themeSwitch = () => {
    const group = scenthound.element("div", { class: "switch theme", role: "group", "aria-label": "Light or dark" });
    const buttons = CHOICES.map(([theme, text]) => scenthound.button(text, { value: theme }, () => choose(theme)));
    const press = (theme) => buttons.forEach((each) => each.setAttribute("aria-pressed", each.value === theme));
    function choose(theme) {
      apply(theme);
      keep(theme);
      press(theme);
    }
    buttons.at(-1).title = "As the system is set";
    press(document.documentElement.dataset.theme ?? "");
    group.append(...buttons);
    return group;
  };

  apply(kept());
})();
