// Hierarchies: another builder begins with its example.
import { edit } from "/assets/studio.js";

document.addEventListener("change", async (e) => {
  const column = e.target.dataset?.builder;
  if (column === undefined) return;
  const example = e.target.selectedOptions[0]?.dataset.example ?? "";
  await edit({ op: "set", path: ["columns", column, "hierarchy"], kind: "toml", value: example }, e.target);
});
