// Every screen, as wide as a phone and as a wall: nothing overflows, nothing is inaccessible, nothing complains.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Project, SCREENS, closed, dropped, run, sent, settled, to, violations } from "./project.mjs";

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

/** What a screen shows once its work is done. */
const DONE = { explore: "#minimal", compare: "#sides", publish: "#verdict" };

/** Long names, letters of other scripts, and a hostile one, on every screen that shows columns. */
async function unwieldy(project, light, both) {
  const names = ["Körpergröße in Zentimetern bei der Erstaufnahme", "Donaudampfschifffahrtsgesellschaftskapitänsmützenfarbe", "年齢", "الجنس", "Diagnose"];
  const row = (i) => [150 + (i % 40), ["blau-weiß gestreift mit goldenem Rand", "schwarz"][i % 2], 20 + (i % 50), ["ذكر", "أنثى"][i % 2], ["Grippe", "<b>Gicht</b>", "Fraktur"][i % 3]].join(";");
  project.write("unwieldy.csv", names.join(";") + "\n" + Array.from({ length: 240 }, (_, i) => row(i)).join("\n") + "\n");
  const quasi = names.slice(0, 4).map((name) => `[columns."${name}"]\nrole = "quasi"\nhierarchy = { suppress = true }\n`);
  project.write("policy.toml", `[data]\ninput = "unwieldy.csv"\n\n${quasi.join("\n")}\n[columns.Diagnose]\nrole = "sensitive"\n\n[[require]]\nmodel = "k-anonymity"\nk = 3\n\n[search]\nalgorithm = "optimal"\n`);
  for (const screen of SCREENS) {
    if (["explore", "compare"].includes(screen)) await run(light, screen, DONE[screen]);
    else await to(light, screen);
    await both(screen, `${screen} unwieldy`);
  }
}

/** Screens on which something is wrong, something is impossible, or a series stands. */
async function amiss(project, light, both) {
  const policy = project.read("policy.toml");
  project.write("policy.toml", policy.replace(/^k = .*$/m, "k = 100000"));
  await to(light, "protection");
  await light.waitForSelector("text=No release is possible");
  await both("protection", "protection impossible");
  project.write("policy.toml", policy.replace(/^k = .*$/m, 'k = "many"').replace(/^role = "sensitive"/m, 'role = "sensitve"'));
  for (const screen of ["columns", "protection"]) {
    await to(light, screen);
    await light.waitForSelector("text=things are wrong");
    await both(screen, `${screen} wrong`);
  }
  const rows = Array.from({ length: 60 }, (_, i) => `P${100 + i},${20 + (i % 20)},${["flu", "gout", "cold"][i % 3]}`);
  project.write("ward.csv", "person,age,disease\n" + rows.join("\n") + "\n");
  project.write(
    "policy.toml",
    '[data]\ninput = "ward.csv"\n\n[columns.person]\nrole = "key"\n\n[columns.age]\nrole = "quasi"\n' +
      'hierarchy = { taxonomy = { Any = { Young = ["20", "21", "22", "23", "24", "25", "26", "27", "28", "29"] } } }\n\n' +
      '[columns.disease]\nrole = "sensitive"\n\n[[require]]\nmodel = "k-anonymity"\nk = 3\n',
  );
  await to(light, "hierarchies");
  await light.waitForSelector(".lacking");
  await both("hierarchies", "hierarchies lacking");
  project.write("policy.toml", project.read("policy.toml").replace(/hierarchy = .*/, "hierarchy = { intervals = [5, 10, 20] }"));
  await to(light, "publish");
  await light.fill("#series-folder", "ward");
  await sent(light, () => light.click("form[data-series=begin] button"));
  await light.waitForSelector("#series-told >> text=version 1 is published");
  await settled(light);
  await both("publish", "publish series");
}

test("every screen fits every width, in light and dark, for everybody", async () => {
  const project = new Project();
  try {
    await project.start();
    const [wrong, shots] = [[], process.env.STUDIO_SHOTS];
    const light = await project.page({ colorScheme: "light", reducedMotion: "reduce" });
    const dark = await project.page({ colorScheme: "dark", reducedMotion: "reduce" });
    await looked(light, "empty data", shots, wrong);
    await to(light, "protection");
    await looked(light, "empty protection", shots, wrong);
    await to(light, "data");
    await dropped(light, project.patients(300));
    // Where no algorithm is named several compete, which takes longer than looking.
    project.write("policy.toml", project.read("policy.toml").replace(/^\[search\]$/m, '[search]\nalgorithm = "optimal"'));
    const work = (screen, done) => (done ? run(light, screen, done) : to(light, screen));
    const both = async (screen, name) => {
      await looked(light, `${name} light`, shots, wrong);
      await to(dark, screen);
      await looked(dark, `${name} dark`, shots, wrong);
    };
    for (const screen of SCREENS) {
      await work(screen, DONE[screen]);
      await both(screen, screen);
    }
    project.write("policy.toml", project.read("policy.toml").replace('algorithm = "optimal"', 'algorithm = "mondrian"'));
    await work("explore", "#algorithms");
    await both("explore", "explore local");
    await amiss(project, light, both);
    await unwieldy(project, light, both);
    wrong.push(...light.complaints, ...dark.complaints);
    assert.deepEqual(wrong, []);
  } finally {
    await project.end();
  }
});
