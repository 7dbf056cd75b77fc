// Compare: which groups and which two columns are shown is part of the address, and chosen without leaving one's place.
import { refresh } from "./studio.js";

function ask(change) {
  const address = new URL(location.href);
  for (const [name, value] of change) {
    if (value === "") address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  history.pushState(null, "", address.pathname + address.search);
  return refresh();
}

document.addEventListener("change", (e) => {
  if (!e.target.matches("select[data-ask]")) return;
  // Both columns go together: the one that was not touched may have been chosen by the page.
  const name = e.target.dataset.ask;
  const group = name === "by" ? [e.target] : [...document.querySelectorAll("select[data-ask=a], select[data-ask=b]")];
  ask(group.map((select) => [select.dataset.ask, select.value]));
});
document.addEventListener("click", async (e) => {
  const link = e.target.closest?.("a[data-ask-link]");
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  await ask(new URL(link.href).searchParams);
  const heading = document.getElementById("pairs");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  heading?.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
});
addEventListener("popstate", () => refresh());
