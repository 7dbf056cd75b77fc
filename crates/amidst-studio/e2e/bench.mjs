// How quick the studio is: first paint of every screen, answers to clicks, and what is sent; on Adult where it is here (or as
// many made-up patients), and on a million rows. Not a test: `bash scripts/studio.sh bench.mjs`, with AMIDST=… for a release
// build; STUDIO_BENCH says which of `adult,million`, STUDIO_ALGORITHM which algorithm (none is named otherwise, so several
// compete). The browser runs already, and so does the studio. To be reached on Adult: 200 ms for a first paint, 100 ms for a
// click; with a million rows: 2 MB a screen, and a first view within twice the time of reading (`cargo bench --bench init` tells
// that).
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { Project, closed, settled } from "./project.mjs";

const SCREENS = ["data", "columns", "hierarchies", "protection", "explore", "compare", "publish"];
const ADULT = new URL("../../../../shared/data/adult/adult.csv", import.meta.url).pathname;
const PATIENCE = 1_800_000;
const RUNS = 7;

const sorted = (times) => times.toSorted((a, b) => a - b);
const median = (times) => sorted(times)[Math.floor(times.length / 2)];
const told = (times) => `${median(times).toFixed(0).padStart(5)} ms  (at most ${sorted(times).at(-1).toFixed(0)})`;

const at = (page, screen) => page.goto(new URL(`/${screen}`, page.url()).href, { waitUntil: "load" });

/** Until the first paint with content, for several visits, and everything that a visit is sent. */
async function painted(page, screen) {
  const [times, server] = [[], []];
  let bytes = 0;
  for (let i = 0; i < RUNS; i++) {
    await at(page, screen);
    const [paint, sent] = await page.evaluate(() => new Promise((done) => {
      const sent = () => performance.getEntries().reduce((sum, e) => sum + (e.transferSize ?? 0), 0);
      const told = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
      if (told()) return done([told(), sent()]);
      new PerformanceObserver(() => told() && done([told(), sent()])).observe({ type: "paint", buffered: true });
    }));
    times.push(paint);
    bytes = Math.max(bytes, sent);
    server.push(await page.evaluate(() => performance.getEntriesByType("navigation").map((e) => e.responseEnd - e.requestStart)[0]));
  }
  return [times, bytes, median(server)];
}

// What is clicked on each screen. `saved`: the page shows another text of the policy; `shows`: there is something new at that
// place, or with `renews` the page has been shown anew; a number of lists gives the values that are chosen in turn.
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
    { what: "an algorithm", links: "#tried a", shows: "#classes" },
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

/** Does one thing in the page and waits until it shows the answer; none where there is nothing to click. */
async function once([plan, turn]) {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const found = (selector) => {
    const [css, which] = selector.split(" >> ");
    const all = [...document.querySelectorAll(css)];
    return which === "last" ? all.at(-1) : all[plan.links ? Math.floor(((turn + 0.5) * all.length) / 8) % all.length : 0];
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
  await frame();
  return performance.now() - start;
}

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
    if (plan.stop) await page.evaluate((kind) => fetch(`/stop/${kind}`, { method: "POST" }), plan.stop);
    await settled(page, PATIENCE);
  }
  return times;
}

/** The first view of a table whose name is typed into the page of a studio that has none. */
async function opened(page, file, read) {
  const field = "#f-data-input";
  await page.fill(field, file);
  const started = Date.now();
  await page.click("#choose button");
  await page.waitForSelector("#rows td");
  const first = Date.now() - started;
  await page.waitForSelector("#columns", { timeout: PATIENCE });
  const figures = Date.now() - started;
  console.log(`  first view ${first} ms, with the figures of all columns ${figures} ms; \`amidst init\` takes ${read} ms`);
}

async function measured(name, rows, make) {
  const project = new Project();
  try {
    const file = make(project);
    const reading = Date.now();
    execFileSync(process.env.AMIDST, ["init", file, "--out", project.path("drafted.toml"), "--quiet"], { cwd: project.folder });
    const read = Date.now() - reading;
    await project.start();
    const page = await project.page();
    page.setDefaultTimeout(PATIENCE);
    console.log(`${name}, ${rows} rows`);
    await opened(page, file, read);
    await settled(page, PATIENCE);
    if (process.env.STUDIO_ALGORITHM) {
      const edit = { op: "set", path: ["search", "algorithm"], value: process.env.STUDIO_ALGORITHM };
      await page.evaluate((edit) => fetch("/edit", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(edit) }), edit);
      await settled(page, PATIENCE);
    }
    for (const screen of ["explore", "compare", "publish"]) {
      await at(page, screen);
      const begun = Date.now();
      await page.click("#screen .primary");
      await page.waitForSelector(`[data-job=${screen}]`);
      if (screen === "explore") {
        for (const other of ["columns", "protection", "explore"]) {
          const [times] = await painted(page, other);
          console.log(`  ${other.padEnd(12)} while it explores: first paint ${told(times)}`);
        }
      }
      await settled(page, PATIENCE);
      console.log(`  ${screen} takes ${((Date.now() - begun) / 1000).toFixed(1)} s in the background`);
    }
    // A page with two lines of text tells how quick browser and machine are.
    for (const screen of ["nowhere", ...SCREENS]) {
      const [times, bytes, server] = await painted(page, screen);
      console.log(`  ${screen.padEnd(12)} first paint ${told(times)}, ${(bytes / 1000).toFixed(0)} kB, answered by the server in ${server.toFixed(0)} ms`);
    }
    await at(page, "data");
    for (const screen of SCREENS) {
      await at(page, screen);
      for (const plan of CLICKS[screen]) {
        const times = await answered(page, plan);
        console.log(`  ${screen.padEnd(12)} ${times.length === 0 ? "nothing to click" : told(times)}: ${plan.what}`);
      }
    }
  } finally {
    await project.end();
  }
}

const sample = (rows) => (project) => {
  execFileSync(process.env.AMIDST, ["sample", "--rows", String(rows), "--out", project.path("patients.csv"), "--quiet"]);
  return "patients.csv";
};
const wanted = process.env.STUDIO_BENCH ?? "adult,million";
if (wanted.includes("adult")) {
  if (existsSync(ADULT)) await measured("Adult", "48,842", (project) => (copyFileSync(ADULT, project.path("adult.csv")), "adult.csv"));
  else await measured("patients", "45,000", sample(45_000));
}
if (wanted.includes("million")) await measured("patients", "1,000,000", sample(1_000_000));
await closed();
