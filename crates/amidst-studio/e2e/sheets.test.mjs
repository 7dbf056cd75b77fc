// A workbook with several sheets: which of them is the table is chosen on the page, from a list.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Project, closed, dropped, policyShows, run, sent, settled, to } from "./project.mjs";
import { workbook } from "./workbook.mjs";

after(closed);

const pick = (list, i) => list[i % list.length];
const patients = Array.from({ length: 240 }, (_, i) => [20 + (i % 50), pick(["f", "m"], i), pick(["flu", "gout", "cold"], i)]);
const staff = Array.from({ length: 180 }, (_, i) => [pick(["north", "south"], i), 1960 + (i % 40), pick(["nurse", "cook"], i), pick(["full", "half"], i)]);
const BOOK = {
  Staff: [["site", "birth_year", "job", "contract"], ...staff],
  Empty: [],
  "Patients <2024>": [["age", "sex", "disease"], ...patients],
  Notes: [["note"], ["from the ward"]],
};

const SHEET = "#f-data-sheet";
const header = (page) => page.locator("#rows thead th").allTextContents();

test("the sheets of a dropped workbook are a list to choose from", async () => {
  const project = new Project();
  try {
    await project.start();
    const page = await project.page();
    await dropped(page, project.beside("ward.xlsx", workbook(BOOK)));
    // The largest one is guessed; those that hold nothing are not offered.
    assert.deepEqual(await page.locator(`${SHEET} option`).allTextContents(), ["Staff", "Patients <2024>", "Notes"]);
    assert.equal(await page.inputValue(SHEET), "Patients <2024>");
    assert.deepEqual(await header(page), ["age", "sex", "disease"]);
    assert.equal(await page.locator("#mismatch").count(), 0);
    const draft = project.read("policy.toml");
    // Another sheet is another table: the policy says so, nothing else of it changes, and the page offers to draft it anew.
    await sent(page, () => page.selectOption(SHEET, "Staff"));
    await policyShows(page, /^sheet = "Staff"/m);
    await settled(page);
    assert.deepEqual(await header(page), ["site", "birth_year", "job", "contract"]);
    assert.equal(project.read("policy.toml"), draft.replace(/^sheet = .*$/m, 'sheet = "Staff"'));
    assert.match(await page.textContent("#mismatch"), /nothing of 4 of the 4 columns/);
    await to(page, "columns");
    await sent(page, () => page.click("#mismatch button"));
    await policyShows(page, /^\[columns\.contract\]/m);
    await settled(page);
    assert.equal(await page.locator("#mismatch, #absent").count(), 0);
    assert.match(project.read("policy.toml"), /^sheet = "Staff"/m);
    assert.doesNotMatch(project.read("policy.toml"), /disease/);
    assert.equal(project.amidst("check", "policy.toml").code, 0);
    await run(page, "publish", "#verdict");
    assert.match(await page.textContent("#verdict"), /is what its certificate says/);
    assert.match(project.read("release/public/release.csv"), /^(site|birth_year|job|contract)/);
    // Both steps can be undone.
    await sent(page, () => page.click("#undo"));
    await sent(page, () => page.click("#undo"));
    await settled(page);
    assert.equal(project.read("policy.toml"), draft);
    await to(page, "data");
    assert.deepEqual(await header(page), ["age", "sex", "disease"]);
    assert.deepEqual(page.complaints, []);
  } finally {
    await project.end();
  }
});

test("a sheet that is not there, or not stated, is wrong at the list, in the words of the command line", async () => {
  const project = new Project();
  try {
    project.write("ward.xlsx", workbook(BOOK));
    const stated = (sheet) =>
      `[data]\ninput = "ward.xlsx"\n${sheet}\n[columns.age]\nrole = "quasi"\nhierarchy = { intervals = [5, 10, 20] }\n\n` +
      '[columns.sex]\nrole = "quasi"\nhierarchy = { suppress = true }\n\n[columns.disease]\nrole = "sensitive"\n\n[[require]]\nmodel = "k-anonymity"\nk = 3\n';
    project.write("policy.toml", stated('sheet = "Patient"\n'));
    await project.start("policy.toml");
    const page = await project.page();
    for (const sheet of ['sheet = "Patient"\n', ""]) {
      project.write("policy.toml", stated(sheet));
      await to(page, "data");
      const told = project.amidst("check", "policy.toml");
      assert.equal(told.code, 2);
      assert.equal(await page.getAttribute(SHEET, "aria-invalid"), "true");
      const line = (text) => text.replaceAll(/\s+/g, " ").trim();
      const words = line((await page.textContent(`${SHEET}-wrong p`)).replace(/^\s*!/, ""));
      assert.ok(words.includes("ward.xlsx: ") && line(told.err).includes(words.replace(/^.*ward\.xlsx: /, "")), `${words}\n---\n${told.err}`);
    }
    await sent(page, () => page.selectOption(SHEET, "Patients <2024>"));
    await settled(page);
    assert.equal(await page.locator(".wrong:visible, .problems").count(), 0);
    assert.deepEqual(await header(page), ["age", "sex", "disease"]);
    assert.equal(project.amidst("check", "policy.toml").code, 0);
  } finally {
    await project.end();
  }
});
