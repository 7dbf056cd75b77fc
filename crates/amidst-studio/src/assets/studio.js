// What every screen shares: it follows the server's state, sends edits, and shows the page anew without losing one's place.

const byId = (id) => document.getElementById(id);
let version = Number(document.body.dataset.version);

/** Tells those who look and those who listen; what `lasts` stays until something else is said. */
export function say(words, lasts = false) {
  const place = byId("said");
  place.textContent = words;
  place.classList.add("shown");
  clearTimeout(say.timer);
  if (!lasts) say.timer = setTimeout(() => place.classList.remove("shown"), 4000);
}

const ANEW = "The studio was started anew. Open the address that it printed; nothing is lost.";

/** What an answer says, whatever it is: also a page that is locked, or a file that is too large. */
export function understood(status, text) {
  try {
    return JSON.parse(text);
  } catch {
    const words = status === 403 ? ANEW : status === 413 ? "it is too large to be sent" : text;
    return { problems: [{ message: words || "the studio refused it" }] };
  }
}

/** Sends something, such as a file; the answer has `problems` where it was refused. */
export async function send(address, options) {
  try {
    const answer = await fetch(address, { method: "POST", ...options });
    return understood(answer.status, await answer.text());
  } catch {
    return { problems: [{ message: "the studio does not answer; start it again, nothing is lost" }] };
  }
}

/** Sends something as JSON. */
export function post(address, body) {
  return send(address, { headers: { "content-type": "application/json" }, body: JSON.stringify(body ?? {}) });
}

/** Shows what is wrong at a place. */
export function showProblems(place, problems) {
  if (!place) return say(problems.map((p) => p.message).join(" "));
  place.replaceChildren(
    ...problems.map((problem) => {
      const line = document.createElement("p");
      line.textContent = "! " + problem.message + (problem.help ? " " + problem.help : "");
      return line;
    }),
  );
  place.hidden = false;
}

/** Makes an edit of the policy, and shows the page anew. */
export async function edit(change, element) {
  const done = await post("/edit", change);
  if (done.problems) {
    const place = element && (byId(element.id + "-refused") ?? byId(element.id + "-wrong"));
    element?.setAttribute("aria-invalid", "true");
    showProblems(place, done.problems);
    return false;
  }
  say("Saved: " + done.what);
  await refresh();
  return true;
}

// The parts of a page that follow the state.
const PARTS = ["bar", "way", "screen", "document"];
let refreshing = null;
let again = false;

/** Shows the page anew. What is being typed, what is open and what is focused stay. */
export function refresh() {
  if (refreshing) {
    again = true;
    return refreshing;
  }
  refreshing = (async () => {
    do {
      again = false;
      await once();
    } while (again);
  })().finally(() => (refreshing = null));
  return refreshing;
}

// What is pressed must still be there when it is let go: otherwise the click is lost.
let pressed = Promise.resolve();
document.addEventListener("pointerdown", () => {
  pressed = new Promise((done) => {
    for (const end of ["pointerup", "pointercancel", "blur"]) addEventListener(end, () => setTimeout(done, 0), { once: true });
  });
});

/** Whether two elements differ at most in what is inside of them; what a reader opened or closed is no difference. */
function alike(now, next) {
  if (now.tagName !== next.tagName) return false;
  const told = (e) => [...e.attributes].filter((a) => a.name !== "open").map((a) => `${a.name}=${a.value}`).sort().join("\n");
  return told(now) === told(next);
}

// What is one thing: a field has a state of its own, a picture is drawn as a whole.
const WHOLE = "input, select, textarea, button, svg, option, progress";

/** Makes an element show what another does, and touches only what differs, so that the rest keeps its state and is not drawn again. */
function renew(now, next) {
  const [old, fresh] = [[...now.childNodes], [...next.childNodes]];
  // What is the same at the end stays, wherever something came or went before it.
  let tail = 0;
  while (tail < Math.min(old.length, fresh.length) && old.at(-1 - tail).isEqualNode(fresh.at(-1 - tail))) tail++;
  const [kept, wanted] = [old.slice(0, old.length - tail), fresh.slice(0, fresh.length - tail)];
  const after = old[old.length - tail] ?? null;
  kept.slice(wanted.length).forEach((node) => node.remove());
  wanted.forEach((node, i) => {
    const own = kept[i];
    if (!own) now.insertBefore(node, after);
    else if (own.isEqualNode(node)) return;
    else if (own.nodeType === Node.ELEMENT_NODE && node.nodeType === Node.ELEMENT_NODE && !own.matches(WHOLE) && alike(own, node)) renew(own, node);
    else own.replaceWith(node);
  });
}

async function once() {
  let text;
  try {
    const answer = await fetch(location.pathname + location.search, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    text = await answer.text();
  } catch {
    return;
  }
  const fresh = new DOMParser().parseFromString(text, "text/html");
  // A policy that cannot be opened has no screens; what is shown stays, and `follow` says why.
  if (!fresh.getElementById("screen")) return;
  await pressed;
  const focus = focused();
  const open = [...document.querySelectorAll("details[data-keep]")].map((d) => [d.id, d.open, d.dataset.wrong]);
  const scrolled = [...document.querySelectorAll(".scroll[id]")].map((s) => [s.id, s.scrollLeft, s.scrollTop]);
  const mine = [...document.querySelectorAll("[data-mine], [data-dirty]")].map((i) => [i.id, i.type === "checkbox" ? i.checked : i.value, i.dataset.dirty]);
  for (const id of PARTS) {
    const [now, next] = [byId(id), fresh.getElementById(id)];
    if (now && next) renew(now, next);
  }
  document.title = fresh.title;
  if (document.querySelector("[data-job]")) soon();
  version = Number(fresh.body.dataset.version);
  document.body.dataset.version = version;
  // What a reader opened or closed stays so, unless something inside of it is wrong that was not before.
  for (const [id, is, wrong] of open) if (byId(id)) byId(id).open = is || (wrong === undefined && byId(id).dataset.wrong !== undefined);
  for (const [id, left, top] of scrolled) byId(id)?.scrollTo(left, top);
  for (const [id, value, dirty] of mine) {
    const input = byId(id);
    if (!input || !id) continue;
    if (input.type === "checkbox") input.checked = value;
    // What can be chosen no longer is not chosen.
    else if (!input.options || [...input.options].some((option) => option.value === value)) input.value = value;
    if (dirty) input.dataset.dirty = dirty;
  }
  refocus(focus);
}

/** What has the focus, and how it is found again where it is drawn anew: by its id, or by what it does. */
function focused() {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const does = ["href", "data-edit", "data-post"].find((name) => element.hasAttribute(name));
  const same = element.id ? `#${CSS.escape(element.id)}` : does ? `#screen [${does}="${CSS.escape(element.getAttribute(does))}"]` : null;
  const around = [];
  for (let e = element; e; e = e.parentElement) if (e.id) around.push(e.id);
  return { element, same, around, start: element.selectionStart, end: element.selectionEnd };
}

/** Gives the focus back. Where what had it is gone, the nearest thing around it has it, so that a keyboard goes on from there. */
function refocus(focus) {
  if (!focus || focus.element.isConnected) return;
  const candidates = [focus.same && document.querySelector(focus.same), ...focus.around.map(byId), byId("screen")];
  for (const target of candidates.filter(Boolean)) {
    target.focus({ preventScroll: true });
    if (document.activeElement === target) break;
  }
  try {
    document.activeElement.setSelectionRange(focus.start, focus.end);
  } catch {
    // Not everything that has a focus has a selection.
  }
}

document.addEventListener("input", (e) => {
  if (e.target.matches("[data-set], [data-text]")) e.target.dataset.dirty = "yes";
});

document.addEventListener("change", async (e) => {
  const input = e.target;
  if (input.dataset.set) {
    delete input.dataset.dirty;
    const done = await edit({ op: "set", path: JSON.parse(input.dataset.set), kind: input.dataset.kind, value: input.value }, input);
    if (!done) input.dataset.dirty = "yes";
  } else if (input.dataset.role !== undefined) {
    await edit({ op: "role", column: input.dataset.role, role: input.value }, input);
  }
});

const busy = new WeakSet();
document.addEventListener("click", async (e) => {
  const button = e.target.closest?.("button");
  if (!button) return;
  if (button.dataset.post) {
    // Pressed twice it does one thing. A button that is switched off would lose the focus.
    if (busy.has(button)) return;
    busy.add(button);
    const done = await post(button.dataset.post, JSON.parse(button.dataset.body ?? "{}"));
    busy.delete(button);
    if (done.problems) showProblems(null, done.problems);
    else if (done.what) say(({ undo: "Undone: ", redo: "Redone: " }[button.id] ?? "Saved: ") + done.what);
    await refresh();
  } else if (button.dataset.edit) {
    await edit(JSON.parse(button.dataset.edit), button);
  } else if (button.dataset.copy) {
    say((await copied(byId(button.dataset.copy))) ? "Copied" : "It is selected; press Ctrl+C to copy it");
  } else if (button.dataset.saveText !== undefined) {
    const source = byId("source");
    delete source.dataset.dirty;
    if (!(await edit({ op: "text", value: source.value }, source))) source.dataset.dirty = "yes";
  }
});

/** Copies what an element shows; selects it where the browser lets pages copy nothing, as on a connection that is not encrypted. */
async function copied(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return false;
  }
}

// A file that is dropped beside the place for it must not take the place of the page.
for (const kind of ["dragover", "drop"]) {
  document.addEventListener(kind, (e) => {
    if (!e.dataTransfer?.types.includes("Files")) return;
    e.preventDefault();
    if (kind === "drop" && !byId("drop")) say("Drop a table on the screen Data");
  });
}

// Enter in a field saves it, as leaving it does.
document.addEventListener("keydown", (e) => {
  const typing = e.target.matches?.("input, textarea, select");
  if (e.key === "Enter" && e.target.matches?.("input[data-set]")) {
    e.preventDefault();
    e.target.dispatchEvent(new Event("change", { bubbles: true }));
  }
  if ((e.ctrlKey || e.metaKey) && !e.altKey && !typing) {
    const key = e.key.toLowerCase();
    const id = key === "z" ? (e.shiftKey ? "redo" : "undo") : key === "y" ? "redo" : null;
    if (id && byId(id) && !byId(id).disabled) {
      e.preventDefault();
      byId(id).click();
    }
  }
});

// Why the page cannot follow the studio, where it cannot; said once, and until it can.
let trouble = null;
function troubled(words) {
  if (words !== trouble) say(words ?? "It works again", words !== null);
  trouble = words;
}
let next = null;
/** Asks how things stand before long, where something has just begun. */
function soon() {
  if (next === null) return;
  clearTimeout(next);
  next = setTimeout(follow, 100);
}
async function follow() {
  next = null;
  let wait = 1200;
  if (!document.hidden) {
    try {
      const answer = await fetch("/state");
      if (answer.ok) {
        const state = await answer.json();
        troubled(state.problem);
        for (const job of state.jobs) {
          if (job.state === "running") wait = 250;
          for (const shown of document.querySelectorAll(`[data-job="${job.kind}"]`)) {
            shown.querySelector("progress").value = job.share;
            shown.querySelector("[data-stage]").textContent = job.words + ": " + job.stage;
          }
        }
        if (state.version !== version) await refresh();
      } else if (answer.status === 403) troubled(ANEW);
    } catch {
      troubled("The studio does not answer. Start it again; nothing is lost.");
    }
  }
  next = setTimeout(follow, wait);
}
next = setTimeout(follow, 250);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refresh();
});
