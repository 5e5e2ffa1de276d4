// The switch between light, dark and automatic colours. The choice is stored if the browser allows it.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const CHOICES = [["light", "Light"], ["dark", "Dark"], ["", "Auto"]];
  const KEY = "scenthound-theme";

  // Without storage, as in a sandbox, these calls throw.
  function stored() {
    try {
      return localStorage.getItem(KEY) ?? "";
    } catch {
      return "";
    }
  }

  function store(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // The choice lasts until the page is closed.
    }
  }

  function apply(theme) {
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  }

  scenthound.themeSwitch = () => {
    const group = scenthound.element("div", { class: "switch theme", role: "group", "aria-label": "Light or dark" });
    const buttons = CHOICES.map(([theme, text]) => scenthound.button(text, { value: theme }, () => choose(theme)));
    const press = (theme) => buttons.forEach((each) => each.setAttribute("aria-pressed", each.value === theme));
    function choose(theme) {
      apply(theme);
      store(theme);
      press(theme);
    }
    buttons.at(-1).title = "Follow the system setting";
    press(document.documentElement.dataset.theme ?? "");
    group.append(...buttons);
    return group;
  };

  apply(stored());
})();
