// Explore: a chosen node or algorithm is looked at without leaving one's place.
import { refresh } from "/assets/studio.js";

document.addEventListener("click", async (e) => {
  const link = e.target.closest?.("a[href^='/explore?']");
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  history.pushState(null, "", link.getAttribute("href"));
  await refresh();
  // A link in a picture has no `hash`.
  const node = document.getElementById(link.getAttribute("href").split("#")[1]);
  node?.focus({ preventScroll: true });
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  node?.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
});
addEventListener("popstate", () => refresh());
