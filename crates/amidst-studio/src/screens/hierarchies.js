// Hierarchies: another builder begins with its example; values move between groups; files come in.
import { edit, post, refresh, say, send, showProblems } from "./studio.js";

document.addEventListener("submit", async (e) => {
  const column = e.target.dataset?.move;
  if (column === undefined) return;
  e.preventDefault();
  const { value, to } = e.target.elements;
  const done = await post("/edit", { op: "move", column, value: value.value, to: to.value });
  if (done.problems) return showProblems(document.getElementById(to.id + "-wrong"), done.problems);
  say("Saved: " + done.what);
  await refresh();
});

document.addEventListener("change", async (e) => {
  const into = e.target.dataset?.import;
  if (into === undefined || !e.target.files[0]) return;
  const file = e.target.files[0];
  const address = `/import?column=${encodeURIComponent(into)}&name=${encodeURIComponent(file.name)}`;
  const done = await send(address, { body: file });
  if (done.problems) return showProblems(document.getElementById(e.target.id + "-wrong"), done.problems);
  say("Saved: " + done.what);
  await refresh();
});

document.addEventListener("change", async (e) => {
  const column = e.target.dataset?.builder;
  if (column === undefined) return;
  const example = e.target.selectedOptions[0]?.dataset.example ?? "";
  await edit({ op: "set", path: ["columns", column, "hierarchy"], kind: "toml", value: example }, e.target);
});
