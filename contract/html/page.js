"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Copying: the clipboard where the browser lets a page have it, else the selection.
  for (const button of all("button.copy")) {
    const code = button.parentElement.querySelector("code");
    button.hidden = false;
    button.addEventListener("click", async () => {
      let done = true;
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        getSelection().selectAllChildren(code);
        done = document.execCommand("copy");
      }
      button.textContent = done ? "Copied" : "Selected";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  // Filtering: what is shown has an outcome and a subject that are both checked.
  const boxes = all("input[type=checkbox]");
  const results = all("[data-outcome]");
  const status = document.getElementById("filtered");
  const filter = () => {
    const on = new Set(boxes.filter((box) => box.checked).map((box) => box.name + " " + box.value));
    for (const result of results) {
      result.hidden = !on.has("outcome " + result.dataset.outcome) || !on.has("subject " + result.dataset.subject);
    }
    for (const group of all(".group")) {
      group.hidden = all("[data-outcome]", group).every((result) => result.hidden);
    }
    const shown = results.filter((result) => !result.hidden).length;
    status.textContent = shown < results.length ? `${shown} of ${results.length} checks are shown below` : "";
  };
  for (const box of boxes) {
    box.hidden = false;
    box.addEventListener("change", filter);
  }

  // A link to a check that is filtered out shows it again.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.dataset.outcome) return;
    for (const box of boxes) {
      box.checked ||= box.value === target.dataset[box.name];
    }
    filter();
    const group = target.closest("details");
    if (group) group.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  for (const link of all("a[href^='#']")) {
    link.addEventListener("click", () => { if (link.hash === location.hash) reveal(); });
  }
  reveal();
})();
