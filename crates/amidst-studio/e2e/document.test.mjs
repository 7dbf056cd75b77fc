// The policy is the document: every change is in the file, undone and redone, and lost by nothing.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Project, closed, drop, dropped, policyShows, run, sent, settled, to } from "./project.mjs";

after(closed);

async function begun(project, rows = 500) {
  await project.start();
  const page = await project.page();
  await dropped(page, project.patients(rows));
  await to(page, "protection");
  return page;
}

const K = "#f-require-0-k";

/** Types a value into a field and presses Enter; waits until the page shows the answer. */
async function entered(page, field, value) {
  await page.fill(field, value);
  return sent(page, () => page.press(field, "Enter"));
}

async function setK(page, value) {
  await entered(page, K, value);
  await page.waitForFunction((value) => document.querySelector("#source")?.value.match(/^k = (.*?)(\s*#.*)?$/m)?.[1] === value, value);
}

/** The texts of a page and of a terminal break their lines at other places. */
const line = (text) => text.replaceAll(/\s+/g, " ").trim();

test("changes are in the file at once, step by step undone and redone", async () => {
  const project = new Project();
  try {
    const page = await begun(project);
    const draft = project.read("policy.toml");
    const texts = [draft];
    for (const k of ["6", "7", "8"]) {
      await setK(page, k);
      texts.push(project.read("policy.toml"));
      assert.equal(texts.at(-1), draft.replace(/^k = 5/m, `k = ${k}`));
    }
    assert.match(await page.textContent("#diff"), /k = 7[\s\S]*k = 8/);
    for (let i = texts.length - 2; i >= 0; i--) {
      await page.click("#undo");
      await page.waitForFunction((text) => document.querySelector("#source").value === text, texts[i]);
      assert.equal(project.read("policy.toml"), texts[i]);
    }
    for (let i = 1; i < texts.length; i++) {
      await page.locator("h1").click();
      await page.keyboard.press("Control+Shift+z");
      await page.waitForFunction((text) => document.querySelector("#source").value === text, texts[i]);
      assert.equal(project.read("policy.toml"), texts[i]);
    }
    assert.ok(await page.isDisabled("#redo"));
    assert.deepEqual(page.complaints, []);
  } finally {
    await project.end();
  }
});

test("a killed server loses nothing", async () => {
  const project = new Project();
  try {
    let page = await begun(project);
    await setK(page, "9");
    await setK(page, "10");
    const text = project.read("policy.toml");
    const { port } = new URL(project.address);
    await project.kill("SIGKILL");
    await page.waitForSelector("#said.shown >> text=does not answer");
    // The page of the killed studio is let in by no other, and says so.
    await project.start("--port", port);
    await page.waitForSelector("#said.shown >> text=started anew");
    await page.context().close();
    page = await project.page();
    await to(page, "protection");
    assert.equal(await page.inputValue(K), "10");
    assert.equal(project.read("policy.toml"), text);
    await page.click("#undo");
    await page.waitForFunction((id) => document.querySelector(id)?.value === "9", K);
    await page.click("#redo");
    await page.waitForFunction((id) => document.querySelector(id)?.value === "10", K);
  } finally {
    await project.end();
  }
});

test("two tabs show the same state, also what an editor writes", async () => {
  const project = new Project();
  try {
    const page = await begun(project);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await setK(page, "6");
    await other.waitForFunction((id) => document.querySelector(id)?.value === "6", K);
    project.write("policy.toml", project.read("policy.toml").replace(/^k = 6/m, "k = 13"));
    for (const tab of [page, other]) await tab.waitForFunction((id) => document.querySelector(id)?.value === "13", K);
    await other.click("#undo");
    await page.waitForFunction((id) => document.querySelector(id)?.value === "6", K);
  } finally {
    await project.end();
  }
});

test("a reload in the middle of a search finds it running, and it can be stopped", async () => {
  const project = new Project();
  try {
    const page = await begun(project, 300);
    // A lattice of 7^12 nodes, which nobody waits for.
    const rows = Array.from({ length: 1500 }, (_, i) => Array.from({ length: 12 }, (_, c) => (i * (c + 3) * 7919) % 97).join(","));
    project.write("wide.csv", Array.from({ length: 12 }, (_, c) => `c${c}`).join(",") + "\n" + rows.join("\n") + "\n");
    const columns = Array.from({ length: 12 }, (_, c) => `[columns.c${c}]\nrole = "quasi"\ntype = "integer"\nhierarchy = { intervals = [2, 4, 8, 16, 32, 64] }\n`);
    project.write("policy.toml", `[data]\ninput = "wide.csv"\n\n${columns.join("\n")}\n[[require]]\nmodel = "k-anonymity"\nk = 3\n`);
    await to(page, "explore");
    await page.click("#screen .primary");
    await page.waitForSelector("[data-job=explore]");
    await page.reload();
    await page.waitForSelector("[data-job=explore]");
    await page.goto(new URL("/columns", page.url()).href);
    await page.waitForSelector("select[data-role=c0]");
    const { jobs } = await page.evaluate(async () => (await fetch("/state")).json());
    assert.equal(jobs.find((job) => job.kind === "explore").state, "running", "other screens answer while it runs");
    await page.goto(new URL("/explore", page.url()).href);
    await page.click("[data-job=explore] button");
    await page.waitForSelector("text=Stopped; nothing was written.");
  } finally {
    await project.end();
  }
});

test("the curve grows while the search runs, and survives a reload", async () => {
  const project = new Project();
  try {
    // A lattice of 7^5 nodes, few enough that each is priced, over rows of which none are alike, so that it takes a while.
    const width = 5;
    let state = 1;
    const random = () => (state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) >>> 12;
    const rows = Array.from({ length: 100_000 }, () => Array.from({ length: width }, () => random() % 97).join(","));
    project.write("wide.csv", Array.from({ length: width }, (_, c) => `c${c}`).join(",") + "\n" + rows.join("\n") + "\n");
    const columns = Array.from({ length: width }, (_, c) => `[columns.c${c}]\nrole = "quasi"\ntype = "integer"\nhierarchy = { intervals = [2, 4, 8, 16, 32] }\n`);
    project.write("policy.toml", `[data]\ninput = "wide.csv"\n\n${columns.join("\n")}\n[[require]]\nmodel = "k-anonymity"\nk = 3\n\n[search]\nalgorithm = "optimal"\n`);
    await project.start("policy.toml");
    const page = await project.page();
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
    await project.end();
  }
});

test("what is wrong stands where it belongs, in the words of the command line", async () => {
  const project = new Project();
  try {
    const page = await begun(project);
    assert.equal(await entered(page, K, "many"), 200);
    await page.waitForSelector(`${K}-wrong`);
    const told = project.amidst("check", "policy.toml");
    assert.equal(told.code, 2);
    const message = line((await page.textContent(`${K}-wrong p`)).replace(/^\s*!/, ""));
    assert.ok(message.length > 20 && line(told.err).includes(message), `${message}\n---\n${told.err}`);
    assert.equal(await page.getAttribute(K, "aria-invalid"), "true");
    const border = () => page.locator(K).evaluate((field) => getComputedStyle(field).borderTopWidth);
    assert.equal(await border(), "2px", "the field is marked for those who look, too");
    assert.ok((await page.inputValue("#f-search-max_5fsuppression")) !== "", "everything else is still there");
    // Impossible: more than there are.
    await entered(page, K, "100000");
    await page.waitForSelector("text=No release is possible");
    const impossible = project.amidst("check", "policy.toml");
    assert.equal(impossible.code, 1);
    const words = (await page.textContent("section[aria-label=Impossible] p")).trim();
    assert.ok(impossible.err.includes(words) || impossible.out.includes(words), `${words}\n---\n${impossible.err}${impossible.out}`);
    assert.equal(await page.getAttribute(K, "aria-invalid"), "true", "the field that asks too much is marked");
    assert.ok((await page.textContent(`${K}-wrong`)).includes(words));
    // A text that is no policy at all is marked where it is edited.
    const good = project.read("policy.toml").replace(/^k = .*$/m, "k = 5");
    project.write("policy.toml", good + "\n[[[\n");
    await page.waitForSelector("#source[aria-invalid=true]");
    assert.match(await page.textContent("#source-wrong"), /not TOML/);
    // One that is not even text cannot be opened; the page stays and says why, until it can.
    project.write("policy.toml", Buffer.from([0x6b, 0xff, 0x0a]));
    await page.waitForSelector("#said.shown >> text=cannot read the policy");
    assert.ok(await page.isVisible("#source"));
    project.write("policy.toml", good);
    await page.waitForSelector("#said.shown >> text=It works again");
    // Columns that the table lacks stand below those that it has, and can be taken out.
    project.write("policy.toml", good + '\n[columns.zipp]\nrole = "quasi"\n');
    await to(page, "columns");
    await page.waitForSelector("#absent");
    // What is wrong with it follows once the policy has been held against the table.
    await page.waitForSelector("section[aria-labelledby=absent] >> text=the data has no column `zipp`");
    await sent(page, () => page.click("section[aria-labelledby=absent] button"));
    await page.waitForFunction(() => !document.querySelector("#absent") && !document.querySelector("#source").value.includes("zipp"));
    // A table that is gone is told of, and no longer when it is back.
    project.write("policy.toml", good.replace(/^input = .*$/m, 'input = "gone.csv"'));
    await page.waitForSelector("#problems >> text=gone.csv");
    const gone = line(await page.textContent("#problems li")).replace(/ go there$/, "");
    assert.ok(line(project.amidst("check", "policy.toml").err).includes(gone), gone);
    await to(page, "data");
    // Where another table is named, what was named stands to be mended.
    assert.equal(await page.inputValue("#f-data-input:visible"), "gone.csv");
    assert.equal(await page.getAttribute("#f-data-input", "aria-invalid"), "true");
    project.write("policy.toml", good);
    await page.waitForFunction(() => !document.querySelector("#screen").textContent.includes("gone.csv"));
    await settled(page);
    // A wrong file is told where it was dropped, and leaves nothing behind.
    await to(page, "data");
    await page.click("#other summary");
    const before = project.read("policy.toml");
    await drop(page, project.beside("table.docx", "no table"));
    await page.waitForSelector("#drop-wrong:not([hidden])");
    await drop(page, project.beside("ragged.csv", 'a,b\n1,2\n3\n"'));
    await page.waitForFunction(() => document.querySelector("#drop-wrong").textContent.includes("ragged"));
    assert.ok(!project.has("ragged.csv"));
    await page.fill("#f-data-input", "nowhere.csv");
    await page.click("#choose button");
    await page.waitForSelector("#f-data-input[aria-invalid=true]");
    assert.match(await page.textContent("#f-data-input-wrong"), /nowhere\.csv: no such file/);
    assert.equal(project.read("policy.toml"), before);
  } finally {
    await project.end();
  }
});

test("hierarchies are edited in place, and values that they lack stand there", async () => {
  const project = new Project();
  try {
    const row = (i) => `${20 + (i % 50)},${["north", "south", "east"][i % 3]},${1000 + (i % 40)},${["flu", "gout", "cold"][i % 3]}\n`;
    project.write("ward.csv", "age,ward,code,disease\n" + Array.from({ length: 300 }, (_, i) => row(i)).join(""));
    project.write(
      "policy.toml",
      '[data]\ninput = "ward.csv"\n\n[columns.age]\nrole = "quasi"\ntype = "integer"\nhierarchy = { ranges = [[30, 40, 50], [40]] }\n\n' +
        '[columns.ward]\nrole = "quasi"\nhierarchy = { taxonomy = { Any = { Coast = ["north", "south"] } } }\n\n' +
        '[columns.code]\nrole = "quasi"\nhierarchy = { mask = { length = 4, masked = [2] } }\n\n' +
        '[columns.disease]\nrole = "sensitive"\n\n[[require]]\nmodel = "k-anonymity"\nk = 5\n',
    );
    await project.start("policy.toml");
    const page = await project.page();
    await to(page, "hierarchies");
    await settled(page);
    // What the command line says stands at the column, and there the owner sees which value it is.
    assert.match(await page.textContent("#f-columns-ward-hierarchy-wrong"), /lacks 1 value, in 100 rows/);
    assert.match(await page.textContent("#h-f-columns-ward-hierarchy .lacking"), /east 100 rows/);
    await page.selectOption("#f-columns-ward-move-value", "east");
    await page.fill("#f-columns-ward-move-to", "Inland");
    await sent(page, () => page.click("form[data-move=ward] button"));
    await page.waitForFunction(() => !document.querySelector(".lacking") && document.querySelector("#source").value.includes('Inland = ["east"]'));
    await settled(page);
    assert.equal(project.amidst("check", "policy.toml").code, 0);
    // Break points, level by level.
    const level = (i) => `#f-columns-age-hierarchy-ranges-${i}`;
    const edit = async (i, typed, text) => {
      await entered(page, level(i), typed);
      await page.waitForFunction((text) => document.querySelector("#source").value.includes(text), text);
    };
    await edit(0, "30, 35, 50", "ranges = [[30, 35, 50], [40]]");
    await settled(page);
    await page.waitForSelector("#h-f-columns-age-hierarchy .wrong:visible");
    assert.equal(await page.locator("#h-f-columns-age-hierarchy .wrong:visible").count(), 1, "told once");
    await edit(1, "50", "ranges = [[30, 35, 50], [50]]");
    await edit(2, "", "ranges = [[30, 35, 50], [50]]");
    await edit(1, "", "ranges = [[30, 35, 50]]");
    await settled(page);
    assert.equal(await page.locator(".wrong:visible").count(), 0);
    assert.equal(project.amidst("check", "policy.toml").code, 0);
    // The characters that a mask hides.
    await entered(page, "#f-columns-code-hierarchy-mask-masked", "2, 3");
    await policyShows(page, /mask = \{ length = 4, masked = \[2, 3\] \}/);
    await settled(page);
    assert.equal(project.amidst("check", "policy.toml").code, 0);
    // Out as a file, and in again.
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("#h-f-columns-ward-hierarchy a.button")]);
    const saved = project.path("exported.csv");
    await file.saveAs(saved);
    assert.match(project.read("exported.csv"), /^east;Inland;/m);
    await page.setInputFiles("input[data-import=ward]", saved);
    await page.waitForFunction(() => /hierarchy = \{ file = "exported.*\.csv" \}/.test(document.querySelector("#source").value));
    await settled(page);
    assert.equal(project.amidst("check", "policy.toml").code, 0);
    assert.deepEqual(page.complaints, []);
  } finally {
    await project.end();
  }
});

test("a table of Windows with decimal commas is read, and read again as its policy says", async () => {
  const project = new Project();
  try {
    const row = (i) => `Müller ${i};${60 + (i % 40)},${i % 10};${["männlich", "weiblich"][i % 2]};${["Grippe", "Gicht", "Fraktur"][i % 3]}\n`;
    const text = "Name;Gewicht (kg);Geschlecht;Diagnose\n" + Array.from({ length: 300 }, (_, i) => row(i)).join("");
    await project.start();
    const page = await project.page();
    await dropped(page, project.beside("Übersicht.csv", Buffer.from(text, "latin1")));
    const cell = (i) => page.locator("#rows tbody tr").first().locator("td").nth(i).textContent();
    assert.deepEqual([await cell(1), await cell(2)], ["60.0", "männlich"]);
    assert.match(project.read("policy.toml"), /^encoding = "windows-1252"[\s\S]*^decimal = ","/m);
    await page.click("#reading summary");
    await sent(page, () => page.selectOption("#f-data-decimal", "."));
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
    await project.end();
  }
});

test("everything is reached by the keyboard alone", async () => {
  const project = new Project();
  try {
    const page = await begun(project, 300);
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
    await policyShows(page, /^\[columns\.sex\]\nrole = "i/m);
    await page.keyboard.press("Tab");
    await press("Tab", "#undo");
    await page.keyboard.press("Enter");
    await policyShows(page, /^\[columns\.sex\]\nrole = "quasi"/m);
    // What is pressed keeps the focus, and what is gone leaves it nearby.
    await to(page, "protection");
    await press("Tab", ".presets button[aria-pressed=false]");
    const preset = await page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press("Enter");
    await page.waitForFunction((preset) => document.activeElement.matches("[aria-pressed=true]") && document.activeElement.textContent === preset, preset);
    await settled(page);
    await page.focus("#screen");
    await press("Tab", "[data-edit*=unrequire]");
    await page.keyboard.press("Enter");
    await policyShows(page, /^(?![\s\S]*k-anonymity)/);
    await page.waitForFunction(() => document.querySelector("#screen").contains(document.activeElement));
    await sent(page, () => page.click("#undo"));
    await to(page, "explore");
    await press("Tab", "#screen .primary");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#curve");
    await settled(page);
    await press("Tab", "svg a[href*='node=']");
    await page.keyboard.press("Enter");
    // What was chosen has the focus.
    await page.waitForFunction(() => document.querySelector("#node-title") && document.activeElement.id === "node");
  } finally {
    await project.end();
  }
});

test("a table that the command names is looked at, and found from the policy", async () => {
  const project = new Project();
  try {
    project.write("people.csv", project.amidst("sample", "--rows", "300", "--quiet").out);
    await project.start("people.csv");
    const page = await project.page();
    await page.waitForSelector("text=Next: what the columns are");
    await settled(page);
    assert.match(project.read("policy.toml"), /^input = "people.csv"$/m);
    assert.equal(project.amidst("check", "policy.toml").code, 0);
  } finally {
    await project.end();
  }
});
