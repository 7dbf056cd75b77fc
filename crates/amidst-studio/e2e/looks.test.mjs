// Every screen, as wide as a phone and as a wall: nothing overflows, nothing is inaccessible, nothing complains.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { AXE, House, closed, drop, settled, to } from "./house.mjs";

const SCREENS = ["data", "columns", "hierarchies", "protection", "explore", "compare", "publish"];
const WIDTHS = [360, 768, 1280, 1920];
after(closed);

async function overflow(page) {
  return page.evaluate(() => {
    const wide = document.documentElement.clientWidth;
    const found = [];
    if (document.documentElement.scrollWidth > wide) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
    for (const e of document.querySelectorAll("body *")) {
      if ((e.closest("svg") && e.tagName !== "svg") || e.closest(".scroll") !== null || e.closest(".hidden, .skip, .cards thead")) continue;
      const box = e.getBoundingClientRect();
      if (box.width > 0 && box.right > wide + 1) found.push(`${e.tagName}.${e.className} ends at ${box.right}`);
    }
    return found.slice(0, 5);
  });
}

async function violations(page) {
  await page.evaluate(readFileSync(AXE, "utf8"));
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).join(" | ")}`);
}

async function looked(page, what, shots, wrong) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    wrong.push(...(await overflow(page)).map((found) => `${what} at ${width}: ${found}`));
    if (shots && (width === 360 || width === 1280)) {
      await page.screenshot({ path: `${shots}/${what.replaceAll(/\W+/g, "-")}-${width}.png`, fullPage: true });
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  wrong.push(...(await violations(page)).map((found) => `${what}: ${found}`));
}

test("every screen fits every width, in light and dark, for everybody", async () => {
  const house = new House();
  try {
    await house.start();
    const wrong = [];
    for (const colorScheme of ["light", "dark"]) {
      const page = await house.page({ colorScheme, reducedMotion: "reduce" });
      if (colorScheme === "light") {
        await looked(page, "empty data", process.env.STUDIO_SHOTS, wrong);
        await to(page, "protection");
        await looked(page, "empty protection", process.env.STUDIO_SHOTS, wrong);
        await to(page, "data");
        await drop(page, house.patients(800));
        await page.waitForSelector("text=Next: what the columns are");
        await settled(page);
      }
      for (const screen of SCREENS) {
        await to(page, screen);
        if (colorScheme === "light") {
          for (const job of ["explore", "compare", "publish"]) {
            if (screen !== job) continue;
            await page.click("#screen .primary");
            await page.waitForSelector(job === "explore" ? "#curve" : job === "compare" ? "#sides" : "#verdict");
            await settled(page);
          }
        }
        await looked(page, `${screen} ${colorScheme}`, process.env.STUDIO_SHOTS, wrong);
      }
      wrong.push(...page.complaints);
      await page.context().close();
    }
    assert.deepEqual(wrong, []);
  } finally {
    await house.end();
  }
});
