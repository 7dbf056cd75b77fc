// Explore: a chosen node is looked at without leaving one's place.
import { refresh } from "/assets/studio.js";

document.addEventListener("click", async (e) => {
  const link = e.target.closest?.("a[href^='/explore?node=']");
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  history.pushState(null, "", link.getAttribute("href"));
  await refresh();
  const node = document.getElementById("node");
  node?.focus({ preventScroll: true });
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  node?.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
});
addEventListener("popstate", () => refresh());
