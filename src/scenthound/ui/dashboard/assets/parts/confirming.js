// A question that has to be answered before something is done that cannot be undone by the same click.

import { button, element } from "../dom.js";

/** Whether the reader agrees; Escape is no. */
export function confirmed(question, yes, no) {
  const asked = element("dialog", { class: "question", "aria-label": question }, element("p", {}, question));
  const refuse = button(no, () => asked.close(), { autofocus: true });
  const agree = button(yes, () => asked.close("yes"), { class: "grave" });
  asked.append(element("div", { class: "answers" }, refuse, agree));
  document.body.append(asked);
  asked.showModal();
  return new Promise((answer) => {
    asked.addEventListener("close", () => {
      asked.remove();
      answer(asked.returnValue === "yes");
    });
  });
}
