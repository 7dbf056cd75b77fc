// How quick the studio is: first paint of every screen, the answer to an edit, and what is sent; on Adult where it is here (or as
// many made-up patients), and on a million rows. Not a test: `bash scripts/studio.sh bench.mjs`, with AMIDST=… for a release build.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { House, closed, settled, to } from "./house.mjs";

const SCREENS = ["data", "columns", "hierarchies", "protection", "explore", "compare", "publish"];
const ADULT = new URL("../../../../shared/data/adult/adult.csv", import.meta.url).pathname;

/** Runs once and again without a browser's own start. */
async function painted(page, screen) {
  const times = [];
  let bytes = 0;
  for (let i = 0; i < 5; i++) {
    const answer = await page.goto(new URL(`/${screen}`, page.url()).href, { waitUntil: "load" });
    bytes = (await answer.body()).length;
    times.push(await page.evaluate(() => new Promise((done) => {
      const told = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
      if (told()) return done(told());
      new PerformanceObserver(() => told() && done(told())).observe({ type: "paint", buffered: true });
    })));
  }
  return [times.sort((a, b) => a - b)[2], bytes];
}

/** From a click on a preset until the page shows it. */
async function answered(page) {
  await page.goto(new URL("/protection", page.url()).href);
  await settled(page);
  const times = [];
  for (const k of ["11", "12", "20", "5", "3"]) {
    times.push(await page.evaluate(async (k) => {
      const button = [...document.querySelectorAll(".presets button")].find((b) => b.textContent.trim() === `k = ${k}`);
      const start = performance.now();
      button.click();
      while (document.querySelector("#f-require-0-k").value !== k) await new Promise((done) => setTimeout(done, 1));
      return performance.now() - start;
    }, k));
    await settled(page);
  }
  return times.sort((a, b) => a - b)[2];
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
    await page.waitForSelector("#rows td", { timeout: 300_000 });
    const first = Date.now() - started;
    await page.waitForSelector("#columns", { timeout: 300_000 });
    const figures = Date.now() - started;
    console.log(`${name}: ${rows} rows; \`amidst init\` ${read} ms; first view ${first} ms, with the figures of all columns ${figures} ms`);
    page.setDefaultTimeout(600_000);
    await settled(page);
    for (const screen of SCREENS) {
      const [paint, bytes] = await painted(page, screen);
      console.log(`  ${screen.padEnd(12)} first paint ${paint.toFixed(0).padStart(5)} ms  ${(bytes / 1000).toFixed(0).padStart(5)} kB`);
    }
    console.log(`  an edit is answered and shown in ${(await answered(page)).toFixed(0)} ms`);
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
