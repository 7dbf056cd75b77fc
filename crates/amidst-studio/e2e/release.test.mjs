// From a dropped table to a verified release; what the page publishes is what the command line publishes.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { House, closed, drop, settled, to } from "./house.mjs";

after(closed);

/** The files of a folder by their paths in it. */
function files(folder, inside = "") {
  return readdirSync(join(folder, inside)).flatMap((name) => {
    const path = join(inside, name);
    return statSync(join(folder, path)).isDirectory() ? files(folder, path) : [path];
  });
}

function same(house, one, other) {
  const [a, b] = [house.path(one), house.path(other)];
  assert.deepEqual(files(a).sort(), files(b).sort());
  for (const file of files(a)) {
    assert.ok(readFileSync(join(a, file)).equals(readFileSync(join(b, file))), `${file} differs`);
  }
}

async function dropped(house, rows) {
  const page = await house.page();
  await drop(page, house.patients(rows));
  await page.waitForSelector("text=Next: what the columns are");
  await settled(page);
  return page;
}

async function published(page, folder) {
  await to(page, "publish");
  await page.fill("#out", folder);
  await page.click("#publish button[type=submit]");
  await page.waitForSelector(`#verdict >> text=${folder}`);
  await settled(page);
  assert.match(await page.textContent("#verdict"), /is what its certificate says/);
}

test("a dropped table becomes a verified full-domain release", async () => {
  const house = new House();
  try {
    await house.start();
    const page = await dropped(house, 900);
    await to(page, "columns");
    for (const [column, role] of [["id", "identifying"], ["diagnosis", "sensitive"]]) {
      await page.selectOption(`select[data-role="${column}"]`, role);
      await page.waitForSelector("#said.shown");
    }
    await to(page, "protection");
    await page.selectOption("#f-search-algorithm", "optimal");
    await page.waitForFunction(() => document.querySelector("#source")?.value.includes('algorithm = "optimal"'));
    await to(page, "explore");
    await page.click("#screen .primary");
    await page.waitForSelector("#curve");
    await settled(page);
    await page.click("#minimal-rows a");
    await page.waitForSelector("#node-title");
    assert.match(await page.textContent("#node-title"), /satisfies the policy/);
    await to(page, "compare");
    await page.click("#screen .primary");
    await page.waitForSelector("#sides");
    await published(page, "mine");
    assert.equal(house.amidst("anonymize", "policy.toml", "--out", "theirs").code, 0);
    same(house, "mine", "theirs");
    assert.equal(house.amidst("verify", "mine").code, 0);
    // A second release of the same name is refused where the name stands.
    await page.fill("#out", "mine");
    await page.click("#publish button[type=submit]");
    await page.waitForSelector("#out-wrong:not([hidden])");
    assert.match(await page.textContent("#out-wrong"), /exists already/);
    for (const name of ["../out", "/tmp/elsewhere", ".hidden"]) {
      await page.fill("#out", name);
      await page.click("#publish button[type=submit]");
      await page.waitForFunction((name) => document.querySelector("#out-wrong").textContent.includes(name), name);
    }
    const names = page.complaints.filter((text) => !text.includes("422"));
    assert.deepEqual(names, []);
  } finally {
    await house.end();
  }
});

test("a dropped table becomes a verified local release", async () => {
  const house = new House();
  try {
    await house.start();
    const page = await dropped(house, 700);
    await to(page, "protection");
    await page.selectOption("#f-search-algorithm", "mondrian");
    await page.waitForFunction(() => document.querySelector("#source")?.value.includes('algorithm = "mondrian"'));
    await settled(page);
    await to(page, "explore");
    await page.click("#screen .primary");
    await page.waitForSelector("#algorithms");
    await published(page, "mine");
    assert.equal(house.amidst("anonymize", "policy.toml", "--out", "theirs").code, 0);
    same(house, "mine", "theirs");
  } finally {
    await house.end();
  }
});

test("a table that changes becomes a series with an audit", async () => {
  const house = new House();
  try {
    const rows = (from, to) => {
      let text = "";
      for (let i = from; i < to; i++) text += `p${i},${20 + (i % 40)},${["f", "m"][i % 2]},${["flu", "cold", "asthma", "gout"][(i * 7) % 4]}\n`;
      return text;
    };
    house.write("ward.csv", "person,age,sex,disease\n" + rows(0, 200));
    house.write("more.csv", "person,age,sex,disease\n" + rows(200, 260));
    house.write(
      "policy.toml",
      '[data]\ninput = "ward.csv"\n\n[columns.person]\nrole = "key"\n\n[columns.age]\nrole = "quasi"\ntype = "integer"\n' +
        'hierarchy = { intervals = [5, 10, 20, 40] }\n\n[columns.sex]\nrole = "quasi"\nhierarchy = { suppress = true }\n\n' +
        '[columns.disease]\nrole = "sensitive"\n\n[[require]]\nmodel = "k-anonymity"\nk = 4\n\n' +
        '[[require]]\nmodel = "distinct-l-diversity"\non = "disease"\nl = 2\n',
    );
    await house.start("policy.toml");
    const page = await house.page();
    await to(page, "publish");
    await page.fill("#series-folder", "ward");
    await page.click("form[data-series=begin] button");
    await page.waitForSelector("#series-told >> text=version 1 is published");
    await settled(page);
    await page.fill("#insert-ward", "more.csv");
    await page.click("form[data-series=apply] button");
    await page.waitForSelector("#series-told >> text=60 rows came");
    await settled(page);
    await page.click("text=Publish safely");
    await page.waitForSelector("#series-told >> text=version 2 is published");
    await settled(page);
    await page.click("text=Audit all versions");
    await page.waitForSelector("#series-told .holds");
    assert.equal(house.amidst("series", "audit", "ward").code, 0);
    assert.equal(await page.locator("article table tbody tr").count(), 2);
  } finally {
    await house.end();
  }
});
