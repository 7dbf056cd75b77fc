// The policy is the document: every change is in the file, undone and redone, and lost by nothing.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { House, closed, drop, settled, to } from "./house.mjs";

after(closed);

async function begun(house, rows = 500) {
  await house.start();
  const page = await house.page();
  await drop(page, house.patients(rows));
  await page.waitForSelector("text=Next: what the columns are");
  await settled(page);
  await to(page, "protection");
  return page;
}

const K = "#f-require-0-k";

async function setK(page, value) {
  await page.fill(K, value);
  await page.press(K, "Enter");
  await page.waitForFunction((value) => document.querySelector("#source")?.value.match(/^k = (.*?)(\s*#.*)?$/m)?.[1] === value, value);
}

test("changes are in the file at once, step by step undone and redone", async () => {
  const house = new House();
  try {
    const page = await begun(house);
    const draft = house.read("policy.toml");
    const texts = [draft];
    for (const k of ["6", "7", "8"]) {
      await setK(page, k);
      texts.push(house.read("policy.toml"));
      assert.equal(texts.at(-1), draft.replace(/^k = 5/m, `k = ${k}`));
    }
    assert.match(await page.textContent("#diff"), /k = 7[\s\S]*k = 8/);
    for (let i = texts.length - 2; i >= 0; i--) {
      await page.click("#undo");
      await page.waitForFunction((text) => document.querySelector("#source").value === text, texts[i]);
      assert.equal(house.read("policy.toml"), texts[i]);
    }
    for (let i = 1; i < texts.length; i++) {
      await page.locator("h1").click();
      await page.keyboard.press("Control+Shift+z");
      await page.waitForFunction((text) => document.querySelector("#source").value === text, texts[i]);
      assert.equal(house.read("policy.toml"), texts[i]);
    }
    assert.ok(await page.isDisabled("#redo"));
    assert.deepEqual(page.complaints, []);
  } finally {
    await house.end();
  }
});

test("a killed server loses nothing", async () => {
  const house = new House();
  try {
    let page = await begun(house);
    await setK(page, "9");
    await setK(page, "10");
    const text = house.read("policy.toml");
    await house.kill("SIGKILL");
    await page.waitForSelector("#said.shown >> text=does not answer");
    await page.context().close();
    await house.start();
    page = await house.page();
    await to(page, "protection");
    assert.equal(await page.inputValue(K), "10");
    assert.equal(house.read("policy.toml"), text);
    await page.click("#undo");
    await page.waitForFunction((id) => document.querySelector(id)?.value === "9", K);
    await page.click("#redo");
    await page.waitForFunction((id) => document.querySelector(id)?.value === "10", K);
  } finally {
    await house.end();
  }
});

test("two tabs show the same state, also what an editor writes", async () => {
  const house = new House();
  try {
    const page = await begun(house);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await setK(page, "6");
    await other.waitForFunction((id) => document.querySelector(id)?.value === "6", K);
    house.write("policy.toml", house.read("policy.toml").replace(/^k = 6/m, "k = 13"));
    for (const tab of [page, other]) await tab.waitForFunction((id) => document.querySelector(id)?.value === "13", K);
    await other.click("#undo");
    await page.waitForFunction((id) => document.querySelector(id)?.value === "6", K);
  } finally {
    await house.end();
  }
});

test("a reload in the middle of a search finds it running, and it can be stopped", async () => {
  const house = new House();
  try {
    const page = await begun(house, 3000);
    // Fifteen further quasi columns would be a lattice that nobody waits for.
    const rows = Array.from({ length: 1500 }, (_, i) => Array.from({ length: 12 }, (_, c) => (i * (c + 3) * 7919) % 97).join(","));
    house.write("wide.csv", Array.from({ length: 12 }, (_, c) => `c${c}`).join(",") + "\n" + rows.join("\n") + "\n");
    const columns = Array.from({ length: 12 }, (_, c) => `[columns.c${c}]\nrole = "quasi"\ntype = "integer"\nhierarchy = { intervals = [2, 4, 8, 16, 32, 64] }\n`);
    house.write("policy.toml", `[data]\ninput = "wide.csv"\n\n${columns.join("\n")}\n[[require]]\nmodel = "k-anonymity"\nk = 3\n`);
    await to(page, "explore");
    await page.click("#screen .primary");
    await page.waitForSelector("[data-job=explore]");
    await page.reload();
    await page.waitForSelector("[data-job=explore]");
    const started = Date.now();
    await page.goto(new URL("/columns", page.url()).href);
    assert.ok(Date.now() - started < 5000, "other screens answer while it runs");
    await page.goto(new URL("/explore", page.url()).href);
    await page.click("[data-job=explore] button");
    await page.waitForSelector("text=Stopped; nothing was written.");
  } finally {
    await house.end();
  }
});

test("the curve grows while the search runs, and survives a reload", async () => {
  const house = new House();
  try {
    // A lattice of 7^6 nodes, all of which are priced to be drawn.
    const width = 6;
    const rows = Array.from({ length: 12000 }, (_, i) => Array.from({ length: width }, (_, c) => (Math.floor((i * i * (c + 3)) / ((c + 1) * 7)) + i * (c * 31 + 17)) % 97).join(","));
    house.write("wide.csv", Array.from({ length: width }, (_, c) => `c${c}`).join(",") + "\n" + rows.join("\n") + "\n");
    const columns = Array.from({ length: width }, (_, c) => `[columns.c${c}]\nrole = "quasi"\ntype = "integer"\nhierarchy = { intervals = [2, 4, 8, 16, 32] }\n`);
    house.write("policy.toml", `[data]\ninput = "wide.csv"\n\n${columns.join("\n")}\n[[require]]\nmodel = "k-anonymity"\nk = 3\n\n[search]\nalgorithm = "optimal"\n`);
    await house.start("policy.toml");
    const page = await house.page();
    await to(page, "explore");
    await page.click("#screen .primary");
    const looked = async () => {
      await page.waitForSelector("#looked");
      return Number((await page.textContent("#looked")).replace(/\D/g, ""));
    };
    const first = await looked();
    assert.ok((await page.locator("#growing-plane circle").count()) > 0);
    await page.reload();
    await page.waitForFunction((first) => Number(document.querySelector("#looked")?.textContent.replace(/\D/g, "")) > first, first);
    // A point can be chosen already.
    const point = await page.locator("#growing-plane a").first().getAttribute("href");
    await page.goto(new URL(point, page.url()).href);
    await page.waitForSelector("#node-title");
    await page.click("[data-job=explore] button");
    await page.waitForSelector("text=Stopped; nothing was written.");
    assert.ok((await page.locator("#growing-plane circle").count()) > 0, "what was seen until then stays");
    assert.deepEqual(page.complaints, []);
  } finally {
    await house.end();
  }
});

test("what is wrong stands where it belongs, in the words of the command line", async () => {
  const house = new House();
  try {
    const page = await begun(house);
    await setK(page, '"many"').catch(() => {});
    await page.waitForSelector(`${K}-wrong`);
    const told = house.amidst("check", "policy.toml");
    assert.equal(told.code, 2);
    const first = (await page.textContent(`${K}-wrong`)).replace(/^!/, "").trim().split("\n")[0];
    assert.ok(told.err.includes(first.split(";")[0].slice(0, 30)), `${first}\n---\n${told.err}`);
    assert.equal(await page.getAttribute(K, "aria-invalid"), "true");
    const border = () => page.locator(K).evaluate((field) => getComputedStyle(field).borderTopWidth);
    assert.equal(await border(), "2px", "the field is marked for those who look, too");
    assert.ok((await page.inputValue("#f-search-max_5fsuppression")) !== "", "everything else is still there");
    // Impossible: more than there are.
    await page.fill(K, "100000");
    await page.press(K, "Enter");
    await page.waitForSelector("text=No release is possible");
    const impossible = house.amidst("check", "policy.toml");
    assert.equal(impossible.code, 1);
    const words = (await page.textContent("section[aria-label=Impossible] p")).trim();
    assert.ok(impossible.err.includes(words) || impossible.out.includes(words), `${words}\n---\n${impossible.err}${impossible.out}`);
    assert.equal(await page.getAttribute(K, "aria-invalid"), "true", "the field that asks too much is marked");
    assert.ok((await page.textContent(`${K}-wrong`)).includes(words));
    // A text that is no policy at all is marked where it is edited.
    const good = house.read("policy.toml").replace(/^k = .*$/m, "k = 5");
    house.write("policy.toml", good + "\n[[[\n");
    await page.waitForSelector("#source[aria-invalid=true]");
    assert.match(await page.textContent("#source-wrong"), /not TOML/);
    // Columns that the table lacks stand below those that it has, and can be taken out.
    house.write("policy.toml", good + '\n[columns.zipp]\nrole = "quasi"\n');
    await to(page, "columns");
    await page.waitForSelector("#absent");
    // What is wrong with it follows once the policy has been held against the table.
    await page.waitForSelector("section[aria-labelledby=absent] >> text=the data has no column `zipp`");
    await page.click("section[aria-labelledby=absent] button");
    await page.waitForFunction(() => !document.querySelector("#absent") && !document.querySelector("#source").value.includes("zipp"));
    // A table that is gone is told of, and no longer when it is back.
    house.write("policy.toml", good.replace(/^input = .*$/m, 'input = "gone.csv"'));
    await page.waitForSelector("#problems >> text=gone.csv");
    house.write("policy.toml", good);
    await page.waitForFunction(() => !document.querySelector("#screen").textContent.includes("gone.csv"));
    await settled(page);
    // A wrong file is told where it was dropped, and leaves nothing behind.
    await to(page, "data");
    await page.click("#other summary");
    const before = house.read("policy.toml");
    house.write("table.docx", "no table");
    await drop(page, house.path("table.docx"));
    await page.waitForSelector("#drop-wrong:not([hidden])");
    await drop(page, house.write("../ragged.csv", 'a,b\n1,2\n3\n"'));
    await page.waitForFunction(() => document.querySelector("#drop-wrong").textContent.includes("ragged"));
    assert.ok(!house.has("ragged.csv"));
    await page.fill("#f-data-input", "nowhere.csv");
    await page.click("#choose button");
    await page.waitForSelector("#f-data-input[aria-invalid=true]");
    assert.match(await page.textContent("#f-data-input-wrong"), /nowhere\.csv: no such file/);
    assert.equal(house.read("policy.toml"), before);
  } finally {
    await house.end();
  }
});

test("hierarchies are edited in place, and values that they lack stand there", async () => {
  const house = new House();
  try {
    const row = (i) => `${20 + (i % 50)},${["north", "south", "east"][i % 3]},${["flu", "gout", "cold"][i % 3]}\n`;
    house.write("ward.csv", "age,ward,disease\n" + Array.from({ length: 300 }, (_, i) => row(i)).join(""));
    house.write(
      "policy.toml",
      '[data]\ninput = "ward.csv"\n\n[columns.age]\nrole = "quasi"\ntype = "integer"\nhierarchy = { ranges = [[30, 40, 50], [40]] }\n\n' +
        '[columns.ward]\nrole = "quasi"\nhierarchy = { taxonomy = { Any = { Coast = ["north", "south"] } } }\n\n' +
        '[columns.disease]\nrole = "sensitive"\n\n[[require]]\nmodel = "k-anonymity"\nk = 5\n',
    );
    await house.start("policy.toml");
    const page = await house.page();
    await to(page, "hierarchies");
    await settled(page);
    // What the command line says stands at the column, and there the owner sees which value it is.
    assert.match(await page.textContent("#f-columns-ward-hierarchy-wrong"), /lacks 1 value, in 100 rows/);
    assert.match(await page.textContent("#h-f-columns-ward-hierarchy .lacking"), /east 100 rows/);
    await page.selectOption("#f-columns-ward-move-value", "east");
    await page.fill("#f-columns-ward-move-to", "Inland");
    await page.click("form[data-move=ward] button");
    await page.waitForFunction(() => !document.querySelector(".lacking") && document.querySelector("#source").value.includes('Inland = ["east"]'));
    await settled(page);
    assert.equal(house.amidst("check", "policy.toml").code, 0);
    // Break points, level by level.
    const level = (i) => `#f-columns-age-hierarchy-ranges-${i}`;
    const edit = async (i, typed, text) => {
      await page.fill(level(i), typed);
      await page.press(level(i), "Enter");
      await page.waitForFunction((text) => document.querySelector("#source").value.includes(text), text);
    };
    await edit(0, "30, 35, 50", "ranges = [[30, 35, 50], [40]]");
    await settled(page);
    await page.waitForSelector("#h-f-columns-age-hierarchy .wrong:visible");
    await edit(1, "50", "ranges = [[30, 35, 50], [50]]");
    await edit(2, "", "ranges = [[30, 35, 50], [50]]");
    await edit(1, "", "ranges = [[30, 35, 50]]");
    await settled(page);
    assert.equal(await page.locator(".wrong:visible").count(), 0);
    assert.equal(house.amidst("check", "policy.toml").code, 0);
    // Out as a file, and in again.
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("#h-f-columns-ward-hierarchy a.button")]);
    const saved = house.path("exported.csv");
    await file.saveAs(saved);
    assert.match(house.read("exported.csv"), /^east;Inland;/m);
    await page.setInputFiles("input[data-import=ward]", saved);
    await page.waitForFunction(() => /hierarchy = \{ file = "exported.*\.csv" \}/.test(document.querySelector("#source").value));
    await settled(page);
    assert.equal(house.amidst("check", "policy.toml").code, 0);
    assert.deepEqual(page.complaints, []);
  } finally {
    await house.end();
  }
});

test("a table of Windows with decimal commas is read, and read again as its policy says", async () => {
  const house = new House();
  try {
    const row = (i) => `Müller ${i};${60 + (i % 40)},${i % 10};${["männlich", "weiblich"][i % 2]};${["Grippe", "Gicht", "Fraktur"][i % 3]}\n`;
    const text = "Name;Gewicht (kg);Geschlecht;Diagnose\n" + Array.from({ length: 300 }, (_, i) => row(i)).join("");
    writeFileSync(house.path("../Übersicht.csv"), Buffer.from(text, "latin1"));
    await house.start();
    const page = await house.page();
    await drop(page, house.path("../Übersicht.csv"));
    await page.waitForSelector("text=Next: what the columns are");
    await settled(page);
    const cell = (i) => page.locator("#rows tbody tr").first().locator("td").nth(i).textContent();
    assert.deepEqual([await cell(1), await cell(2)], ["60.0", "männlich"]);
    assert.match(house.read("policy.toml"), /^encoding = "windows-1252"[\s\S]*^decimal = ","/m);
    await page.click("#reading summary");
    await page.selectOption("#f-data-decimal", ".");
    await page.waitForFunction(() => document.querySelector("#rows tbody td:nth-child(2)")?.textContent === "60,0");
    await settled(page);
    assert.equal(await page.locator("#way .count").count() > 0, true, "what no longer fits is told");
    await page.click("#undo");
    await page.waitForFunction(() => document.querySelector("#rows tbody td:nth-child(2)")?.textContent === "60.0");
    await settled(page);
    assert.equal(await page.locator("#way .count").count(), 0);
    await page.goto(new URL("/data?reveal=1", page.url()).href);
    assert.equal(await cell(0), "Müller 0");
  } finally {
    await house.end();
  }
});

test("everything is reached by the keyboard alone", async () => {
  const house = new House();
  try {
    const page = await begun(house, 300);
    await page.goto(new URL("/data", page.url()).href);
    const press = async (key, wanted, most = 200) => {
      for (let i = 0; i < most; i++) {
        await page.keyboard.press(key);
        if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), wanted)) return;
      }
      assert.fail(`${wanted} is not reached`);
    };
    await press("Tab", ".skip", 1);
    await page.keyboard.press("Enter");
    await press("Tab", "a[href='/columns']");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/columns");
    await press("Tab", "select[data-role=sex]");
    await page.keyboard.press("i");
    await page.waitForFunction(() => /\[columns\.sex\]\nrole = "i/.test(document.querySelector("#source").value));
    await page.keyboard.press("Tab");
    await press("Tab", "#undo");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /\[columns\.sex\]\nrole = "quasi"/.test(document.querySelector("#source").value));
    await to(page, "explore");
    await press("Tab", "#screen .primary");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#curve");
    await settled(page);
    await press("Tab", "svg a[href*='node=']");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#node-title");
    assert.equal(await page.evaluate(() => document.activeElement.id), "node", "what was chosen has the focus");
  } finally {
    await house.end();
  }
});

test("a table that the command names is looked at, and found from the policy", async () => {
  const house = new House();
  try {
    house.write("people.csv", house.amidst("sample", "--rows", "300", "--quiet").out);
    await house.start("people.csv");
    const page = await house.page();
    await page.waitForSelector("text=Next: what the columns are");
    await settled(page);
    assert.match(house.read("policy.toml"), /^input = "people.csv"$/m);
    assert.equal(house.amidst("check", "policy.toml").code, 0);
  } finally {
    await house.end();
  }
});
