// What the tests share: a folder with a table, a studio that is served in it, and a browser that looks at it.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Packages lie in the build directory, not in the source.
const require = createRequire(join(process.env.STUDIO_PACKAGES, "here.js"));
export const { chromium } = require("playwright-core");
const AXE = require.resolve("axe-core/axe.min.js");
export const AMIDST = process.env.AMIDST;

let browser = null;
export async function launched() {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"];
  browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM, headless: true, args });
  return browser;
}
export async function closed() {
  await browser?.close();
  browser = null;
}

/** A folder that is gone after the test. */
export class House {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "amidst-studio-"));
    this.server = null;
    this.said = [];
  }
  path(name) {
    return join(this.folder, name);
  }
  write(name, text) {
    writeFileSync(this.path(name), text);
    return this.path(name);
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
      return { code: 0, out: execFileSync(AMIDST, args, { cwd: this.folder, encoding: "utf8", stdio: "pipe" }) };
    } catch (error) {
      return { code: error.status, out: error.stdout, err: error.stderr };
    }
  }
  /** Synthetic patients, outside of the folder, to be dropped. */
  patients(rows) {
    const file = join(mkdtempSync(join(tmpdir(), "amidst-table-")), "patients.csv");
    execFileSync(AMIDST, ["sample", "--rows", String(rows), "--out", file, "--quiet"]);
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
    const page = await context.newPage();
    page.complaints = [];
    page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
    page.on("pageerror", (error) => page.complaints.push(String(error)));
    page.setDefaultTimeout(60_000);
    await page.goto(this.address);
    return page;
  }
  async end() {
    if (this.server?.exitCode === null && !this.server.killed) await this.kill("SIGTERM").catch(() => {});
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Drops a file on the page, as a hand with a mouse does. */
export async function drop(page, file) {
  const name = file.split("/").at(-1);
  const bytes = readFileSync(file).toString("base64");
  const data = await page.evaluateHandle(
    ([name, bytes]) => {
      const transfer = new DataTransfer();
      const raw = Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0));
      transfer.items.add(new File([raw], name));
      return transfer;
    },
    [name, bytes],
  );
  await page.dispatchEvent("#drop", "drop", { dataTransfer: data });
}

/** Waits until no job runs and the page shows it. */
export async function settled(page, patience = 120_000) {
  const still = async () => {
    const state = await (await fetch("/state")).json();
    return state.jobs.every((job) => job.state !== "running") && !document.querySelector("[data-job]");
  };
  for (let tries = 0; !(await page.evaluate(still)); tries++) {
    if (tries * 100 > patience) throw new Error(`the studio is still at work after ${patience / 1000} s`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Goes to a screen and waits until nothing works in the background. */
export async function to(page, screen) {
  await page.goto(new URL(`/${screen}`, page.url()).href);
  await settled(page);
}

/** What axe-core finds fault with on a page. */
export async function violations(page) {
  await page.evaluate(readFileSync(AXE, "utf8"));
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).join(" | ")}`);
}
