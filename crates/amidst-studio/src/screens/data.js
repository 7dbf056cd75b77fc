// Data: dropping, choosing and naming a table.
import { post, refresh, say, showProblems, understood } from "./studio.js";

const element = (id) => document.getElementById(id);

function failed(id, problems) {
  showProblems(element(id), problems);
}

// XMLHttpRequest, because fetch tells nothing of what was sent so far.
function send(file) {
  const bar = element("sent");
  const request = new XMLHttpRequest();
  request.open("POST", "/upload?name=" + encodeURIComponent(file.name));
  element("drop-wrong").hidden = true;
  if (bar) bar.hidden = false;
  request.upload.addEventListener("progress", (e) => {
    if (bar && e.lengthComputable) bar.value = e.loaded / e.total;
  });
  request.addEventListener("load", async () => {
    if (bar) bar.hidden = true;
    const answer = understood(request.status, request.responseText);
    if (request.status === 200) {
      say(file.name + " is being looked at");
      await refresh();
    } else {
      failed("drop-wrong", answer.problems);
    }
  });
  request.addEventListener("error", () => {
    if (bar) bar.hidden = true;
    failed("drop-wrong", [{ message: "the studio did not answer; the file was not taken in" }]);
  });
  request.send(file);
}

document.addEventListener("dragover", () => element("drop")?.classList.add("over"));
document.addEventListener("dragleave", (e) => {
  if (!e.relatedTarget) element("drop")?.classList.remove("over");
});
document.addEventListener("drop", (e) => {
  element("drop")?.classList.remove("over");
  const file = e.dataTransfer?.files?.[0];
  if (file) send(file);
});
document.addEventListener("change", (e) => {
  if (e.target.id === "file" && e.target.files[0]) send(e.target.files[0]);
});
document.addEventListener("submit", async (e) => {
  if (e.target.id !== "choose") return;
  e.preventDefault();
  const input = e.target.elements.input;
  const done = await post("/choose", { input: input.value });
  input.toggleAttribute("aria-invalid", false);
  if (!done.problems) return refresh();
  input.setAttribute("aria-invalid", "true");
  failed(input.id + "-wrong", done.problems);
  input.focus();
});
