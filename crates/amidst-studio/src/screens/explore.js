// Explore: a chosen node or algorithm is looked at without leaving one's place; a node tells why it fails when one hovers over
// it or reaches it by the keyboard.
import { refresh } from "./studio.js";

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

const HESITATION = 150;
let waiting = 0;
// The node that is told about, and whether the keyboard reached it.
let asked = null;
let byKeyboard = false;

function hide() {
  clearTimeout(waiting);
  document.getElementById("why")?.remove();
}

function away() {
  hide();
  asked = null;
}

function soon() {
  if (asked) waiting = setTimeout(tell, HESITATION, asked);
}

async function tell(link) {
  const node = new URL(link.getAttribute("href"), location.href).searchParams.get("node");
  let text = "";
  try {
    const answer = await fetch("/why?node=" + encodeURIComponent(node));
    text = answer.ok ? await answer.text() : "";
  } catch {
    // Follow tells that the studio is gone.
  }
  if (asked !== link || text === "" || !link.isConnected) return;
  const told = new DOMParser().parseFromString(text, "text/html").getElementById("node");
  const box = document.createElement("div");
  box.id = "why";
  box.setAttribute("role", "tooltip");
  // It repeats what choosing the node shows, so that it has no ids of its own.
  for (const part of told?.querySelectorAll("[id]") ?? []) part.removeAttribute("id");
  box.append(...(told?.childNodes ?? []));
  document.getElementById("why")?.remove();
  document.body.append(box);
  const at = link.getBoundingClientRect();
  const left = Math.min(at.left + scrollX, scrollX + document.documentElement.clientWidth - box.offsetWidth - 8);
  const above = at.top - box.offsetHeight - 8;
  box.style.left = Math.max(scrollX + 8, left) + "px";
  box.style.top = scrollY + (above > 0 ? above : at.bottom + 8) + "px";
}

function near(e) {
  const link = e.target.closest?.("svg a[href*='node=']");
  if (link === asked) return;
  // A page that moves under a resting pointer takes nothing from who uses the keyboard.
  if (!link && byKeyboard && e.type === "pointerover") return;
  away();
  if (!link) return;
  [asked, byKeyboard] = [link, e.type === "focusin" && link.matches(":focus-visible")];
  // The browser's own tooltip would cover the answer.
  link.querySelector("title")?.remove();
  soon();
}
document.addEventListener("pointerover", near);
document.addEventListener("focusin", near);
document.addEventListener("keydown", (e) => e.key === "Escape" && away());
// Told again where the node is once the page stands still.
addEventListener("scroll", () => (hide(), soon()), { capture: true, passive: true });
