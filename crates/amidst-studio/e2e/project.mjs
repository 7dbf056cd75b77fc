// What the tests share: a project's folder, a studio that is served in it, and a browser that looks at it.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

// Packages lie in the build directory, not in the source.
const require = createRequire(join(process.env.STUDIO_PACKAGES, "here.js"));
export const { chromium } = require("playwright-core");
const AXE = require.resolve("axe-core/axe.min.js");
export const AMIDST = process.env.AMIDST;
export const SCREENS = ["data", "columns", "hierarchies", "protection", "explore", "compare", "publish"];

/** How long anything is waited for: a busy machine is slow, and a test that fails may take its time. */
const PATIENCE = 120_000;

let browser = null;
export async function launched() {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"];
  browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM, headless: true, args, timeout: PATIENCE });
  return browser;
}
export async function closed() {
  await browser?.close();
  browser = null;
}

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Waits until a condition holds. */
export async function until(holds, what, patience = PATIENCE) {
  for (const begun = Date.now(); !(await holds()); await pause(50)) {
    if (Date.now() - begun > patience) throw new Error(`${what}: not within ${patience / 1000} s`);
  }
}

/** A folder that is gone after the test, with a place beside it for files that are dropped. */
export class Project {
  constructor() {
    this.root = mkdtempSync(join(tmpdir(), "amidst-studio-"));
    this.folder = join(this.root, "project");
    mkdirSync(this.folder);
    this.server = null;
    this.contexts = [];
  }
  path(name) {
    return join(this.folder, name);
  }
  write(name, text) {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }
  /** Writes a file beside the folder, to be dropped; returns its path. */
  beside(name, text) {
    const path = join(this.root, name);
    writeFileSync(path, text);
    return path;
  }
  read(name) {
    return readFileSync(this.path(name), "utf8");
  }
  has(name) {
    return existsSync(this.path(name));
  }
  /** Runs the command line in the folder; returns its exit code and what it printed. */
  amidst(...args) {
    try {
      return { code: 0, out: execFileSync(AMIDST, args, { cwd: this.folder, encoding: "utf8", stdio: "pipe" }), err: "" };
    } catch (error) {
      return { code: error.status, out: error.stdout, err: error.stderr };
    }
  }
  /** Synthetic patients, outside of the folder, to be dropped. */
  patients(rows) {
    const file = join(this.root, "patients.csv");
    execFileSync(AMIDST, ["sample", "--rows", String(rows), "--out", file, "--quiet", "--force"]);
    return file;
  }
  /** Starts a studio; returns its address. */
  async start(...args) {
    this.server = spawn(AMIDST, ["studio", "--no-browser", ...args], { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
    this.log = "";
    this.server.stderr.on("data", (data) => (this.log += data));
    this.address = await new Promise((done, failed) => {
      let out = "";
      this.server.stdout.on("data", (data) => {
        out += data;
        if (out.includes("\n")) done(out.trim());
      });
      this.server.on("exit", (code) => failed(new Error(`the studio ended with ${code}: ${this.log}`)));
    });
    this.origin = new URL(this.address).origin;
    return this.address;
  }
  async kill(signal = "SIGKILL") {
    const ended = new Promise((done) => this.server.on("exit", done));
    this.server.kill(signal);
    await ended;
  }
  /** A page that is let in; whatever its console complains about is kept. */
  async page(options = {}) {
    const context = await (await launched()).newContext({ viewport: { width: 1280, height: 900 }, ...options });
    this.contexts.push(context);
    const page = await context.newPage();
    page.complaints = [];
    page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
    page.on("pageerror", (error) => page.complaints.push(String(error)));
    page.setDefaultTimeout(PATIENCE);
    await page.goto(this.address);
    return page;
  }
  async end() {
    // A page that is left open goes on asking for its studio.
    for (const context of this.contexts) await context.close().catch(() => {});
    const running = this.server && this.server.exitCode === null && this.server.signalCode === null;
    if (running) await this.kill("SIGTERM").catch(() => {});
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Drops a file on the page. */
export async function drop(page, file) {
  const bytes = readFileSync(file).toString("base64");
  const data = await page.evaluateHandle(
    ([name, bytes]) => {
      const transfer = new DataTransfer();
      const raw = Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0));
      transfer.items.add(new File([raw], name));
      return transfer;
    },
    [basename(file), bytes],
  );
  await page.dispatchEvent("#drop", "drop", { dataTransfer: data });
}

/** Drops a table and waits until a policy is drafted for it and all of it is shown. */
export async function dropped(page, file) {
  await drop(page, file);
  await page.waitForSelector("text=Next: what the columns are");
  await settled(page);
}

/** Waits until no job runs and the page shows what the server knows. */
export async function settled(page, patience = PATIENCE) {
  const still = async () => {
    const state = await (await fetch("/state")).json();
    return state.jobs.every((job) => job.state !== "running") && state.version === Number(document.body.dataset.version);
  };
  await until(() => page.evaluate(still), "the studio is still at work", patience);
}

/** Goes to a screen and waits until nothing works in the background. */
export async function to(page, screen) {
  await page.goto(new URL(`/${screen}`, page.url()).href);
  await settled(page);
}

/** Does something that the page sends to the studio, and waits until it shows what came of it. */
export async function sent(page, act) {
  const posted = page.waitForResponse((answer) => answer.request().method() === "POST");
  const [answer] = await Promise.all([posted, act()]);
  const { version } = await answer.json();
  if (version) await page.waitForFunction((version) => Number(document.body.dataset.version) >= version, version);
  return answer.status();
}

/** What the page shows of the policy's text fits a pattern. */
export function policyShows(page, pattern) {
  return page.waitForFunction(
    ([source, flags]) => new RegExp(source, flags).test(document.querySelector("#source")?.value ?? ""),
    [pattern.source, pattern.flags],
  );
}

/** Starts what a screen is for, and waits until it is done and shown. */
export async function run(page, screen, done) {
  await to(page, screen);
  await sent(page, () => page.click("#screen .primary"));
  await page.waitForSelector(done);
  await settled(page);
}

/** What axe-core finds fault with on a page. */
export async function violations(page) {
  await page.evaluate(readFileSync(AXE, "utf8"));
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).join(" | ")}`);
}
