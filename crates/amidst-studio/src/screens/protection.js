// Protection: a requirement is added with values to begin with.
import { edit } from "./studio.js";

document.addEventListener("submit", async (e) => {
  if (e.target.id !== "add") return;
  e.preventDefault();
  const option = e.target.elements.model.selectedOptions[0];
  const wanted = { model: option.value, on: option.dataset.on ?? null, parameters: JSON.parse(option.dataset.parameters) };
  await edit({ op: "require", add: [wanted] }, e.target.elements.model);
});
