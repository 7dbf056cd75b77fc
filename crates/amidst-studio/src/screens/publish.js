// Publish: releases and series.
import { post, refresh, showProblems } from "./studio.js";

document.addEventListener("submit", async (e) => {
  const form = e.target;
  if (form.id === "publish") {
    e.preventDefault();
    const wrong = document.getElementById("out-wrong");
    wrong.hidden = true;
    const done = await post("/run/publish", { out: form.elements.out.value, force: form.elements.force.checked });
    if (done.problems) {
      showProblems(wrong, done.problems);
      // What is wrong with the policy is not wrong with the folder.
      if (!done.problems.some((problem) => problem.keys?.length > 0)) {
        form.elements.out.setAttribute("aria-invalid", "true");
        form.elements.out.focus();
      }
    } else {
      form.elements.out.removeAttribute("aria-invalid");
      await refresh();
    }
  } else if (form.dataset.series) {
    e.preventDefault();
    const asked = { act: form.dataset.series, folder: form.dataset.folder ?? form.elements.folder.value };
    for (const name of ["mode", "insert", "delete"]) if (form.elements[name]) asked[name] = form.elements[name].value;
    const done = await post("/run/series", asked);
    const wrong = form.querySelector("[data-wrong]");
    if (done.problems) showProblems(wrong, done.problems);
    else await refresh();
  }
});
