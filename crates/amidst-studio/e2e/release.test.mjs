// From a dropped table to a verified release; what the page publishes is what the command line publishes.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Project, closed, dropped, policyShows, run, sent, settled, to } from "./project.mjs";

after(closed);

/** The files of a folder by their paths in it. */
function files(folder, inside = "") {
  return readdirSync(join(folder, inside)).flatMap((name) => {
    const path = join(inside, name);
    return statSync(join(folder, path)).isDirectory() ? files(folder, path) : [path];
  });
}

function same(project, one, other) {
  const [a, b] = [project.path(one), project.path(other)];
  assert.deepEqual(files(a).sort(), files(b).sort());
  for (const file of files(a)) {
    assert.ok(readFileSync(join(a, file)).equals(readFileSync(join(b, file))), `${file} differs`);
  }
}

async function begun(project, rows) {
  await project.start();
  const page = await project.page();
  await dropped(page, project.patients(rows));
  return page;
}

/** Chooses a value of a list that is part of the policy, and waits until the policy says so. */
async function chosen(page, list, value, pattern) {
  await sent(page, () => page.selectOption(list, value));
  await policyShows(page, pattern);
  await settled(page);
}

const algorithm = (page, name) => chosen(page, "#f-search-algorithm", name, new RegExp(`^algorithm = "${name}"`, "m"));

/** A node tells why it fails to whoever hovers over it or reaches it by the keyboard; colours tell loss or risk. */
async function told(page) {
  // The most precise node is at the bottom: it fails wherever anything is generalized.
  await page.locator("#lattice-box a").first().hover();
  await page.waitForSelector("#why");
  assert.match(await page.textContent("#why"), /cannot be published: .* would have to be left out/);
  assert.match(await page.textContent("#why"), /fails k-anonymity in .* classes/);
  await page.keyboard.press("Escape");
  await page.waitForSelector("#why", { state: "detached" });
  await page.locator("#lattice-box a").nth(1).focus();
  await page.waitForSelector("#why");
  const shades = () => page.locator("#lattice-box circle[fill-opacity]").evaluateAll((all) => all.map((c) => c.getAttribute("fill-opacity")).join());
  const loss = await shades();
  await page.click(".shades a:not([aria-current])");
  await page.waitForFunction(() => location.search.includes("shade=risk") && document.querySelector(".shades [aria-current]").textContent === "risk");
  assert.notEqual(await shades(), loss);
  assert.match(await page.textContent("#lattice-box + p"), /the more risk/);
  assert.ok(await page.isVisible("#node-title"), "the chosen node stays");
}

async function published(page, folder) {
  await to(page, "publish");
  await page.fill("#out", folder);
  await sent(page, () => page.click("#publish button[type=submit]"));
  await page.waitForSelector(`#verdict >> text=${folder}`);
  await settled(page);
  assert.match(await page.textContent("#verdict"), /is what its certificate says/);
}

test("a dropped table becomes a verified full-domain release", async () => {
  const project = new Project();
  try {
    const page = await begun(project, 900);
    await to(page, "columns");
    for (const [column, role] of [["id", "identifying"], ["diagnosis", "sensitive"]]) {
      await chosen(page, `select[data-role="${column}"]`, role, new RegExp(`^\\[columns\\.${column}\\]\nrole = "${role}"`, "m"));
    }
    await to(page, "protection");
    await algorithm(page, "optimal");
    await run(page, "explore", "#curve");
    await page.click("#minimal-rows a");
    await page.waitForSelector("#node-title");
    assert.match(await page.textContent("#node-title"), /satisfies the policy/);
    await told(page);
    await run(page, "compare", "#sides");
    await published(page, "mine");
    // The command line that the page gives to copy makes the same bytes.
    await page.click("#elsewhere summary");
    const words = (await page.textContent("#command")).trim().split(" ");
    assert.deepEqual(words, ["amidst", "anonymize", "policy.toml", "--out", "release"]);
    assert.equal(project.amidst(...words.slice(1)).code, 0);
    same(project, "mine", "release");
    assert.equal(project.amidst("verify", "mine").code, 0);
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
    await project.end();
  }
});

test("a dropped table becomes a verified local release", async () => {
  const project = new Project();
  try {
    const page = await begun(project, 700);
    await to(page, "protection");
    await algorithm(page, "mondrian");
    await run(page, "explore", "#algorithms");
    assert.match(await page.textContent("#classes"), /of mondrian/);
    assert.ok((await page.locator(".picture-of-classes svg rect").count()) > 1, "the partition is drawn");
    const other = page.locator("#tried a").filter({ hasNotText: "mondrian" }).first();
    const name = await other.textContent();
    await other.click();
    await page.waitForFunction((name) => document.querySelector("#classes")?.textContent.includes(name), name);
    // So does a point of the curve.
    await page.locator("section[aria-labelledby=curve] svg a[href*='algorithm=mondrian']").first().click();
    await page.waitForFunction(() => document.querySelector("#classes")?.textContent.includes("of mondrian"));
    // A ring of the curve is a k, which can be required.
    const ring = page.locator("section[aria-labelledby=curve] svg a[href*='size=']").last();
    const k = (await ring.getAttribute("href")).match(/size=(\d+)/)[1];
    await ring.click();
    await page.waitForFunction((k) => document.querySelector("#size-title")?.textContent === `Classes of at least ${k} rows`, k);
    await sent(page, () => page.click("#size button"));
    await policyShows(page, new RegExp(`^k = ${k}\\b`, "m"));
    await settled(page);
    await sent(page, () => page.click("#undo"));
    assert.doesNotMatch(project.read("policy.toml"), new RegExp(`^k = ${k}\\b`, "m"));
    await published(page, "mine");
    assert.equal(project.amidst("anonymize", "policy.toml", "--out", "theirs").code, 0);
    same(project, "mine", "theirs");
    assert.deepEqual(page.complaints, []);
  } finally {
    await project.end();
  }
});

test("what is shown of two columns, and of who loses, follows what is asked for", async () => {
  const project = new Project();
  try {
    const page = await begun(project, 300);
    await run(page, "compare", "#cross-before");
    assert.ok(!(await page.textContent("#report-usefulness")).includes("accuracy of predicting"), "nobody said what is to be predicted");
    await chosen(page, "#f-utility-target", "diagnosis", /^target = "diagnosis"/m);
    await page.waitForSelector("text=This was made from an earlier one");
    await sent(page, () => page.click("#screen .primary"));
    await page.waitForFunction(() => /accuracy of predicting diagnosis/.test(document.querySelector("#report-usefulness")?.textContent ?? ""));
    await settled(page);
    const names = await page.locator("#ask-a option").allTextContents();
    const total = async (side) => (await page.locator(`#cross-${side} tbody td:last-child`).allTextContents()).reduce((sum, n) => sum + Number(n.replace(/\D/g, "")), 0);
    for (const [a, b] of [[0, 1], [1, names.length - 1]]) {
      await page.selectOption("#ask-a", String(a));
      await page.selectOption("#ask-b", String(b));
      await page.waitForFunction((label) => document.querySelector("#cross-before")?.getAttribute("aria-label") === label, `${names[a]} and ${names[b]}, before`);
      const rows = Number((await page.textContent(".facts li")).match(/([\d,\s]+) of/)[1].replace(/\D/g, ""));
      assert.equal(await total("after"), rows, "every row of the release is in the table");
      assert.ok((await total("before")) >= rows);
    }
    const lost = async () => (await page.locator("#loser-rows tbody td:last-child").allTextContents()).map((text) => Number(text.trim()));
    assert.deepEqual(await lost(), (await lost()).toSorted((x, y) => y - x), "who loses most comes first");
    await page.selectOption("#ask-by", { label: "diagnosis" });
    await page.waitForFunction(() => [...document.querySelectorAll("#loser-rows tbody td:first-child")].every((td) => td.textContent.startsWith("diagnosis: ")));
    assert.match(page.url(), /by=\d+/);
    await page.reload();
    assert.equal(await page.locator("#ask-by option:checked").textContent(), "diagnosis", "the choice is part of the address");
    await page.goBack();
    await page.click("#pair-rows a");
    await page.waitForSelector("#cross-after");
    assert.deepEqual(page.complaints, []);
  } finally {
    await project.end();
  }
});

/** Rows of a ward, from one number to another. */
function patients(from, to) {
  let text = "";
  for (let i = from; i < to; i++) text += `P${10000 + i * 37},${20 + (i % 40)},${["f", "m"][i % 2]},${["flu", "cold", "asthma", "gout"][(i * 7) % 4]}\n`;
  return text;
}

/** Does something to a series, and waits until the page tells what came of it. */
async function acted(page, act, told) {
  await sent(page, act);
  await page.waitForSelector(`#series-told >> text=${told}`);
  await settled(page);
}

test("a dropped table that changes becomes a series with an audit, the same as the command line's", async () => {
  const project = new Project();
  try {
    const ward = project.beside("ward.csv", "person,age,sex,disease\n" + patients(0, 200));
    project.write("left.csv", "person\nP10000\nP10370\n");
    project.write("more.csv", "person,age,sex,disease\n" + patients(200, 260));
    await project.start();
    const page = await project.page();
    await dropped(page, ward);
    await to(page, "columns");
    for (const [column, role] of [["person", "key"], ["disease", "sensitive"]]) {
      await chosen(page, `select[data-role="${column}"]`, role, new RegExp(`^\\[columns\\.${column}\\]\nrole = "${role}"`, "m"));
    }
    const begin = async () => {
      await to(page, "publish");
      await page.fill("#series-folder", "ward");
      await sent(page, () => page.click("form[data-series=begin] button"));
    };
    // The draft lets rows be left out, which a series cannot; the page says so, and nothing has begun.
    await begin();
    await page.waitForSelector("text=a series leaves nobody out");
    assert.ok(!project.has("ward"));
    await to(page, "protection");
    await page.fill("#f-search-max_5fsuppression", "0");
    await sent(page, () => page.press("#f-search-max_5fsuppression", "Enter"));
    await policyShows(page, /^max_suppression = 0( |$)/m);
    // Nor are ranges of a series rounded.
    await begin();
    await page.waitForSelector("text=their ranges looked alike");
    await settled(page);
    await chosen(page, "#f-output-ranges", "label", /^ranges = "label"/m);
    await begin();
    await page.waitForSelector("#series-told >> text=version 1 is published");
    await settled(page);
    const apply = () => page.click("form[data-series=apply] button");
    await page.fill("#insert-ward", "more.csv");
    await acted(page, apply, "60 rows came");
    await page.fill("#insert-ward", "");
    await page.fill("#delete-ward", "left.csv");
    await acted(page, apply, "0 rows came, 2 went");
    await acted(page, () => page.click("text=Publish safely"), "version 2 is published");
    await acted(page, () => page.click("text=Audit all versions"), "audited");
    await page.waitForSelector("#series-told .holds");
    assert.equal(project.amidst("series", "audit", "ward").code, 0);
    assert.equal(await page.locator("article table tbody tr").count(), 2);
    // The commands that the page gives to copy make the same bytes.
    await page.click("#elsewhere summary");
    const lines = (await page.textContent("#command-series-1")).trim().split("\n");
    assert.deepEqual(lines.map((line) => line.split(" ")[2]), ["init", "insert", "delete", "publish", "audit"]);
    for (const line of lines) {
      const words = line.replace(" ward", " theirs").replace("march.csv", "more.csv").split(" ");
      assert.equal(words[0], "amidst");
      const done = project.amidst(...words.slice(1));
      assert.equal(done.code, 0, `${line}\n${done.err}`);
    }
    assert.match(await page.textContent("#python-series-1"), /am\.Series\("ward"\)[\s\S]*series\.publish\(safe=True\)\nseries\.audit\(\)/);
    for (const version of ["1", "2"]) same(project, `ward/versions/${version}`, `theirs/versions/${version}`);
  } finally {
    await project.end();
  }
});
