// How quick the studio is: first paint of every screen, the answer to a click on each, and what is sent; on Adult where it is
// here (or as many made-up patients), and on a million rows. Not a test: `bash scripts/studio.sh bench.mjs`, with AMIDST=… for a
// release build. To be reached on Adult: 200 ms for a first paint, 100 ms for a click; with a million rows: 2 MB a screen, and a
// first view within twice the time of reading.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { House, closed, settled } from "./house.mjs";

const SCREENS = ["data", "columns", "hierarchies", "protection", "explore", "compare", "publish"];
const ADULT = new URL("../../../../shared/data/adult/adult.csv", import.meta.url).pathname;
const PATIENCE = 1_800_000;
const RUNS = 5;

const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];

async function at(page, screen) {
  await page.goto(new URL(`/${screen}`, page.url()).href, { waitUntil: "load" });
}

/** Until the first paint with content, in the middle of several visits, and everything that a visit is sent. */
async function painted(page, screen) {
  const times = [];
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
  }
  return [median(times), bytes];
}

// What is clicked on each screen, and when the page shows the answer. `click` runs in the page and returns how to tell.
const CLICKS = {
  data: { what: "how unknown cells are treated", choose: ["#f-data-missing_5frows", ["keep", "", "drop", "", "keep"]] },
  columns: { what: "a role", choose: [null, ["insensitive", "identifying", "insensitive", "identifying", "insensitive"]] },
  hierarchies: { what: "levels and their nodes", open: "details[id^=levels] summary" },
  protection: { what: "a threshold", preset: ["11", "12", "20", "5", "3"] },
  explore: { what: "a node of the lattice", links: "#lattice-box a, #minimal-rows a", shows: "#node-title" },
  compare: { what: "groups by a column", choose: ["#ask-by", ["0", "1", "", "0", "1"]] },
  publish: { what: "ranges of numbers", choose: ["#f-output-ranges", ["rounded", "label", "rounded", "label", "rounded"]] },
};

/** From a click until the page shows the answer, in the middle of several. */
async function answered(page, screen) {
  const plan = CLICKS[screen];
  await at(page, screen);
  await settled(page, PATIENCE);
  const times = [];
  for (let i = 0; i < RUNS; i++) {
    const took = await page.evaluate(async ([plan, i]) => {
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      const until = async (shown) => {
        const start = performance.now();
        while (!shown()) {
          if (performance.now() - start > 60_000) throw new Error("no answer within a minute");
          await new Promise((done) => setTimeout(done, 1));
        }
      };
      const start = performance.now();
      if (plan.choose) {
        const [name, values] = plan.choose;
        const select = name ? document.querySelector(name) : [...document.querySelectorAll("select[data-role]")].at(-1);
        if (select === null) return null;
        const value = values[i];
        const before = document.querySelector("#screen").firstElementChild;
        select.value = value;
        select.dispatchEvent(new Event("change", { bubbles: true }));
        await until(() => document.querySelector("#screen").firstElementChild !== before || !select.isConnected);
      } else if (plan.preset) {
        const k = plan.preset[i];
        [...document.querySelectorAll(".presets button")].find((b) => b.textContent.trim() === `k = ${k}`).click();
        await until(() => document.querySelector("#f-require-0-k").value === k);
      } else if (plan.links) {
        const links = [...document.querySelectorAll(plan.links)];
        if (links.length === 0) return null;
        const link = links[Math.floor((links.length * (i + 0.5)) / 5) % links.length];
        const before = document.querySelector(plan.shows);
        link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
        await until(() => document.querySelector(plan.shows) !== before);
      } else {
        const summary = document.querySelector(plan.open);
        if (summary === null) return null;
        const was = summary.parentElement.open;
        summary.click();
        await until(() => summary.parentElement.open !== was);
      }
      await frame();
      return performance.now() - start;
    }, [plan, i]);
    if (took === null) return null;
    times.push(took);
    await settled(page, PATIENCE);
  }
  return median(times);
}

async function measured(name, rows, make) {
  const house = new House();
  try {
    const file = make(house);
    const reading = Date.now();
    execFileSync(process.env.AMIDST, ["init", file, "--out", house.path("drafted.toml"), "--quiet"], { cwd: house.folder });
    const read = Date.now() - reading;
    const started = Date.now();
    await house.start(file);
    const page = await house.page();
    page.setDefaultTimeout(PATIENCE);
    await page.waitForSelector("#rows td");
    const first = Date.now() - started;
    await page.waitForSelector("#columns");
    const figures = Date.now() - started;
    const times = (took) => `${took} ms, ${(took / read).toFixed(2)} times`;
    console.log(`${name}: ${rows} rows; \`amidst init\` reads it in ${read} ms; first view ${times(first)}, with the figures of all columns ${times(figures)}`);
    await settled(page, PATIENCE);
    for (const screen of ["explore", "compare"]) {
      await at(page, screen);
      const begun = Date.now();
      await page.click("#screen .primary");
      await page.waitForSelector(screen === "explore" ? "#minimal, #algorithms, main .wrong" : "#sides, main .wrong");
      await settled(page, PATIENCE);
      console.log(`  ${screen} takes ${((Date.now() - begun) / 1000).toFixed(1)} s`);
    }
    for (const screen of SCREENS) {
      const [paint, bytes] = await painted(page, screen);
      console.log(`  ${screen.padEnd(12)} first paint ${paint.toFixed(0).padStart(5)} ms  ${(bytes / 1000).toFixed(0).padStart(5)} kB`);
    }
    for (const screen of SCREENS) {
      const took = await answered(page, screen);
      const told = took === null ? "nothing to click" : `${took.toFixed(0).padStart(5)} ms`;
      console.log(`  ${screen.padEnd(12)} ${told}: ${CLICKS[screen].what}`);
    }
  } finally {
    await house.end();
  }
}

const sample = (rows) => (house) => {
  execFileSync(process.env.AMIDST, ["sample", "--rows", String(rows), "--out", house.path("patients.csv"), "--quiet"]);
  return "patients.csv";
};
if (existsSync(ADULT)) {
  await measured("Adult", "45 thousand", (house) => (copyFileSync(ADULT, house.path("adult.csv")), "adult.csv"));
} else {
  await measured("patients", 45_000, sample(45_000));
}
await measured("patients", 1_000_000, sample(1_000_000));
await closed();
