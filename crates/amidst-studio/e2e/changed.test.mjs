// What was made from a table or a hierarchy that has changed on disk since says so, and is made again on demand.
import assert from "node:assert/strict";
import { appendFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { after, test } from "node:test";
import { Project, closed, run, sent, settled, to } from "./project.mjs";

after(closed);

const rows = (wards) => "age,ward,disease\n" + Array.from({ length: 300 }, (_, i) => `${20 + (i % 50)},${wards[i % 3]},${["flu", "gout", "cold"][i % 3]}\n`).join("");
const POLICY =
  '[data]\ninput = "ward.csv"\n\n[columns.age]\nrole = "quasi"\ntype = "integer"\nhierarchy = { intervals = [5, 10, 20] }\n\n' +
  '[columns.ward]\nrole = "quasi"\nhierarchy = { file = "wards.csv" }\n\n[columns.disease]\nrole = "sensitive"\n\n' +
  '[[require]]\nmodel = "k-anonymity"\nk = 5\n\n[search]\nalgorithm = "optimal"\n';

/** Writes a file so that neither its length nor its time tells. */
function secretly(project, name, text) {
  const { size, atime, mtime } = statSync(project.path(name));
  project.write(name, text);
  utimesSync(project.path(name), atime, mtime);
  assert.equal(statSync(project.path(name)).size, size);
}

const noted = (page) => page.locator("#changed").count();
const stale = (page) => page.locator(".stale").count();

async function begun(project) {
  project.write("ward.csv", rows(["north", "south", "east1"]));
  project.write("wards.csv", "north;Coast;*\nsouth;Coast;*\neast1;Inland;*\neast2;Inland;*\n");
  project.write("policy.toml", POLICY);
  await project.start("policy.toml");
  const page = await project.page();
  await settled(page);
  return page;
}

test("a table that changed under its name is told of on every page, and read again on demand", async () => {
  const project = new Project();
  try {
    const page = await begun(project);
    await run(page, "compare", "#sides");
    await run(page, "explore", "#minimal");
    const other = await page.context().newPage();
    await other.goto(new URL("/hierarchies", page.url()).href);
    assert.deepEqual([await noted(page), await stale(page)], [0, 0]);
    // The same bytes again are no change.
    project.write("ward.csv", rows(["north", "south", "east1"]));
    await page.reload();
    assert.equal(await noted(page), 0);
    secretly(project, "ward.csv", rows(["north", "south", "east2"]));
    for (const tab of [page, other]) await tab.waitForSelector("#changed >> text=ward.csv has changed on disk");
    assert.match(await page.textContent(".stale"), /ward\.csv has changed since/);
    await to(page, "compare");
    assert.equal(await stale(page), 1);
    await to(page, "data");
    assert.ok((await page.textContent("#screen")).includes("east1"), "what is shown is what was read");
    await sent(page, () => page.click("#read-again"));
    await page.waitForFunction(() => !document.querySelector("#changed") && document.querySelector("#screen").textContent.includes("east2"));
    await settled(page);
    await other.waitForFunction(() => !document.querySelector("#changed") && document.querySelector("#screen").textContent.includes("east2"));
    // What was explored is still of the former table, until it is explored again.
    await to(page, "explore");
    assert.deepEqual([await noted(page), await stale(page)], [0, 1]);
    await page.click("#minimal-rows a");
    await page.waitForSelector("#node-title");
    await sent(page, () => page.click("#screen .primary"));
    await page.waitForFunction(() => !document.querySelector(".stale") && !document.querySelector("[data-job]"));
    assert.deepEqual(page.complaints, []);
  } finally {
    await project.end();
  }
});

test("so are a hierarchy, a table that is gone, and a release that was verified", async () => {
  const project = new Project();
  try {
    const page = await begun(project);
    await run(page, "publish", "#verdict");
    assert.match(await page.textContent("#verdict"), /is what its certificate says/);
    secretly(project, "wards.csv", "north;Coast;*\nsouth;Coast;*\neast1;Coast;*\neast2;Inland;*\n ".slice(0, statSync(project.path("wards.csv")).size));
    await page.waitForSelector("#changed >> text=wards.csv has changed on disk");
    assert.match(await page.textContent("#published ~ .stale"), /wards\.csv has changed since/);
    await page.click("#read-again");
    await page.waitForSelector("#changed", { state: "detached" });
    await settled(page);
    // Whoever writes into the release afterwards is not told that it is verified.
    appendFileSync(project.path("release/public/release.csv"), "99,*,flu\n");
    await page.waitForSelector("#verdict >> text=release has changed since it was verified");
    await page.click("#verdict button");
    await page.waitForSelector("#verdict >> text=does NOT stand");
    const kept = project.read("ward.csv");
    rmSync(project.path("ward.csv"));
    await page.waitForSelector("#changed >> text=ward.csv is there no more");
    await page.click("#read-again");
    await page.waitForSelector("#problems >> text=no such file");
    await settled(page);
    project.write("ward.csv", kept);
    await page.waitForSelector("#changed >> text=ward.csv has changed on disk");
    await page.click("#read-again");
    await page.waitForFunction(() => !document.querySelector("#changed") && !document.querySelector("#problems .problems"));
    assert.deepEqual(page.complaints, []);
  } finally {
    await project.end();
  }
});
