// How quick the studio is: first paint of every screen, answers to clicks, and what is sent; on Adult where it is here (or as
// many made-up patients), and on a million rows. Not a test: `bash scripts/studio.sh bench.mjs`, with AMIDST=… for a release
// build; STUDIO_BENCH says which of `adult,million`, STUDIO_ALGORITHM which algorithm (none is named otherwise, so several
// compete). The browser runs already, and so does the studio.
//
// Every row of the table that is printed has a target, and says whether it was reached by the slowest of the runs, by their
// median alone, or not at all. On Adult: 200 ms for a first paint, 100 ms for a click. With a million rows: 2 MB a screen, and a
// first view within twice the time of reading, which is what `amidst init` takes; there paints and clicks have no target.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { Project, SCREENS, closed, settled } from "./project.mjs";

const ADULT = new URL("../../../../shared/data/adult/adult.csv", import.meta.url).pathname;
const PATIENCE = 1_800_000;
const RUNS = 7;
/** How long a search is waited for before it is stopped: what it has found until then is shown, too. */
const LONGEST = 300_000;

const sorted = (times) => times.toSorted((a, b) => a - b);
const median = (times) => sorted(times)[Math.floor(times.length / 2)];

const [DECIDED, NAMED] = [["reached", "reached by the median", "MISSED"], ["screen", "what", "median", "slowest", "target", "verdict"]];
const WIDTHS = [12, 38, 9, 9, 9, 0];
let verdicts = [];

function printed(cells) {
  console.log("  " + cells.map((cell, i) => (i >= 2 && i <= 4 ? cell.padStart(WIDTHS[i]) : cell.padEnd(WIDTHS[i]))).join("  ").trimEnd());
}

/** A line of the table: figures, what they are to be at most, and whether they are. */
function judged(screen, what, figures, target, shown) {
  if (figures.length === 0) return printed([screen, what, "–", "–", "", "nothing to click"]);
  const [middle, worst] = [median(figures), Math.max(...figures)];
  const verdict = target === undefined ? "" : DECIDED[worst <= target ? 0 : middle <= target ? 1 : 2];
  if (verdict) verdicts.push(verdict);
  printed([screen, what, shown(middle), shown(worst), target === undefined ? "" : shown(target), verdict]);
}
const milliseconds = (time) => `${time.toFixed(0)} ms`;
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;

const at = (page, screen) => page.goto(new URL(`/${screen}`, page.url()).href, { waitUntil: "load" });

/** Until the first paint with content, for several visits, how long the server took for each, and what each was sent. */
async function painted(page, screen) {
  const visits = [];
  for (let i = 0; i < RUNS; i++) {
    await at(page, screen);
    visits.push(await page.evaluate(() => new Promise((done) => {
      const told = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
      const found = () => {
        const [page] = performance.getEntriesByType("navigation");
        const bytes = performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0);
        done({ paint: told(), server: page.responseEnd - page.requestStart, bytes });
      };
      if (told()) return found();
      new PerformanceObserver(() => told() && found()).observe({ type: "paint", buffered: true });
    })));
  }
  const of = (name) => visits.map((visit) => visit[name]);
  return { paint: of("paint"), server: of("server"), bytes: of("bytes") };
}

// What is clicked on each screen. `saved`: the page shows another text of the policy; `shows`: there is something new at that
// place, or with `renews` the page has been shown anew; `values` are chosen in turn; of `links` another one each time, but none
// whose text `but` shows already.
const CLICKS = {
  data: [
    { what: "how unknown cells are treated", choose: "#f-data-missing_5frows", values: ["keep", ""], saved: true },
    { what: "how it is read", click: "#reading summary", opens: true },
  ],
  columns: [
    { what: "a role", choose: "select[data-role] >> last", values: ["insensitive", "identifying"], saved: true },
    { what: "undo", click: "#undo", saved: true },
  ],
  hierarchies: [
    { what: "levels and their nodes", click: "details[id^=levels] summary", opens: true },
    { what: "another hierarchy", choose: "select[data-builder] >> last", values: ["suppress", "order"], saved: true },
    { what: "undo", click: "#undo", saved: true },
  ],
  protection: [
    { what: "a threshold", click: ".presets button[aria-pressed=false]", saved: true },
    { what: "undo", click: "#undo", saved: true },
    { what: "redo", click: "#redo", saved: true, before: "#undo" },
  ],
  explore: [
    { what: "a node of the lattice", links: "#lattice-box a, #minimal-rows a", shows: "#node" },
    { what: "colours", click: ".shades a:not([aria-current])", shows: ".shades" },
    { what: "an algorithm", links: "#tried a", but: "#classes", shows: "#classes" },
    { what: "to explore again", click: "#screen .primary", shows: "[data-job=explore]", stop: "explore" },
  ],
  compare: [
    { what: "groups by a column", choose: "#ask-by", values: ["0", "1"], shows: "#loser-rows" },
    { what: "two columns", choose: "#ask-a", values: ["2", "1"], shows: "#cross-before" },
    { what: "to make it again", click: "#screen .primary", shows: "[data-job=compare]", stop: "compare" },
  ],
  publish: [
    { what: "ranges of numbers", choose: "#f-output-ranges", values: ["rounded", "label"], saved: true },
    { what: "to verify", click: "article .card-head button", shows: "[data-job=verify], #verdict", renews: true },
  ],
};

/** Does one thing in the page and waits until it shows the answer and has painted it; none where there is nothing to click. */
async function once([plan, turn]) {
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const found = (selector) => {
    const [css, which] = selector.split(" >> ");
    const all = [...document.querySelectorAll(css)];
    if (which === "last") return all.at(-1);
    if (!plan.links) return all[0];
    const current = location.pathname + location.search;
    const shown = document.querySelector(plan.but)?.textContent ?? "";
    const others = all.filter((link) => link.getAttribute("href").split("#")[0] !== current && !(plan.but && shown.includes(link.textContent.trim())));
    return others[Math.floor(((turn + 0.5) * others.length) / 8) % others.length];
  };
  const target = found(plan.choose ?? plan.links ?? plan.click);
  if (!target || target.disabled) return null;
  const text = () => document.querySelector("#source")?.value;
  const place = () => document.querySelector(plan.shows);
  const version = () => document.body.dataset.version;
  const before = { text: text(), place: plan.shows && place()?.outerHTML, open: target.parentElement.open, version: version() };
  const shown = () =>
    plan.saved
      ? text() !== before.text
      : plan.opens
        ? target.parentElement.open !== before.open
        : plan.renews
          ? version() !== before.version && place()
          : place() && place().outerHTML !== before.place;
  const start = performance.now();
  if (plan.choose) {
    target.value = plan.values[turn % 2] === target.value ? plan.values[(turn + 1) % 2] : plan.values[turn % 2];
    target.dispatchEvent(new Event("change", { bubbles: true }));
  } else target.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
  while (!shown()) {
    if (performance.now() - start > 60_000) throw new Error(`no answer within a minute: ${plan.what}`);
    await new Promise((done) => setTimeout(done, 1));
  }
  await painted();
  return performance.now() - start;
}

const stopped = (page, kind) => page.evaluate((kind) => fetch(`/stop/${kind}`, { method: "POST" }), kind);

/** From a click until the page shows the answer, several times. */
async function answered(page, plan) {
  const times = [];
  for (let turn = 0; turn < RUNS; turn++) {
    if (plan.before) {
      const text = await page.inputValue("#source");
      await page.click(plan.before);
      await page.waitForFunction((text) => document.querySelector("#source").value !== text, text);
    }
    await settled(page, PATIENCE);
    const took = await page.evaluate(once, [plan, turn]);
    if (took === null) break;
    times.push(took);
    if (plan.stop) await stopped(page, plan.stop);
    await settled(page, PATIENCE);
  }
  return times;
}

/** The first view of a table whose name is typed into the page of a studio that has none; `read` is what reading takes. */
async function opened(page, file, read, large) {
  await page.fill("#f-data-input", file);
  const started = Date.now();
  await page.click("#choose button");
  await page.waitForSelector("#rows td");
  const first = Date.now() - started;
  await page.waitForSelector("#columns", { timeout: PATIENCE });
  const figures = Date.now() - started;
  judged("data", "first rows of a new table", [first], large ? 2 * read : undefined, milliseconds);
  judged("data", "figures of all its columns", [figures], large ? 2 * read : undefined, milliseconds);
  await settled(page, PATIENCE);
}

/** Starts what a screen is for and waits until it is done, or stops it after a while; returns how long it took. */
async function worked(page, screen) {
  await at(page, screen);
  const begun = Date.now();
  await page.click("#screen .primary");
  await page.waitForSelector(`[data-job=${screen}], #verdict, #sides, #curve`);
  if (screen === "explore") {
    for (const other of ["columns", "protection", "explore"]) {
      judged(other, "first paint while it explores", (await painted(page, other)).paint, undefined, milliseconds);
    }
  }
  try {
    await settled(page, LONGEST);
    console.log(`  ${screen}: done in the background after ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  } catch {
    await stopped(page, screen);
    await settled(page, PATIENCE);
    console.log(`  ${screen}: stopped after ${(LONGEST / 1000).toFixed(0)} s`);
  }
}

async function measured(name, large, make) {
  const project = new Project();
  try {
    verdicts = [];
    const file = make(project);
    const reading = Date.now();
    execFileSync(process.env.AMIDST, ["init", file, "--out", project.path("drafted.toml"), "--quiet"], { cwd: project.folder });
    const read = Date.now() - reading;
    await project.start();
    const page = await project.page();
    page.setDefaultTimeout(PATIENCE);
    console.log(`${name}; \`amidst init\` takes ${read} ms`);
    printed(NAMED);
    await opened(page, file, read, large);
    if (process.env.STUDIO_ALGORITHM) {
      const edit = { op: "set", path: ["search", "algorithm"], value: process.env.STUDIO_ALGORITHM };
      await page.evaluate((edit) => fetch("/edit", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(edit) }), edit);
      await settled(page, PATIENCE);
    }
    for (const screen of ["explore", "compare", "publish"]) await worked(page, screen);
    // A page with two lines of text tells how quick browser and machine are.
    judged("(none)", "first paint of two lines of text", (await painted(page, "nowhere")).paint, undefined, milliseconds);
    for (const screen of SCREENS) {
      const { paint, server, bytes } = await painted(page, screen);
      judged(screen, "first paint", paint, large ? undefined : 200, milliseconds);
      judged(screen, "of that, until the server has answered", server, undefined, milliseconds);
      judged(screen, "sent", bytes, 2_000_000, kilobytes);
    }
    for (const screen of SCREENS) {
      await at(page, screen);
      for (const plan of CLICKS[screen]) judged(screen, plan.what, await answered(page, plan), large ? undefined : 100, milliseconds);
    }
    const count = (verdict) => verdicts.filter((one) => one === verdict).length;
    console.log(`  ${verdicts.length} targets: ${DECIDED.map((verdict) => `${count(verdict)} ${verdict.toLowerCase()}`).join(", ")}\n`);
  } finally {
    await project.end();
  }
}

const sample = (rows) => (project) => {
  execFileSync(process.env.AMIDST, ["sample", "--rows", String(rows), "--out", project.path("patients.csv"), "--quiet"]);
  return "patients.csv";
};
const adult = (project) => {
  copyFileSync(ADULT, project.path("adult.csv"));
  return "adult.csv";
};
const wanted = process.env.STUDIO_BENCH ?? "adult,million";
if (wanted.includes("adult")) {
  if (existsSync(ADULT)) await measured("Adult, 48,842 rows", false, adult);
  else await measured("Patients, 45,000 rows", false, sample(45_000));
}
if (wanted.includes("million")) await measured("Patients, 1,000,000 rows", true, sample(Number(process.env.STUDIO_ROWS ?? 1_000_000)));
await closed();
