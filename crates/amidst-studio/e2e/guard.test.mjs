// Who may speak to the studio, and what it hands out.
import assert from "node:assert/strict";
import { readdirSync, symlinkSync } from "node:fs";
import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { after, test } from "node:test";
import { Project, SCREENS, closed, dropped, launched, sent, settled, to, until, violations } from "./project.mjs";

after(closed);

function ask(project, path, { method = "GET", headers = {}, body = "" } = {}) {
  const url = new URL(path, project.origin);
  return new Promise((done, failed) => {
    // A connection of its own: one that was refused may be closed by the server at any moment.
    const sent = request({ host: url.hostname, port: url.port, path: url.pathname + url.search, method, agent: false, headers: { host: url.host, ...headers } }, (answer) => {
      let text = "";
      answer.on("data", (data) => (text += data));
      answer.on("end", () => done({ status: answer.statusCode, headers: answer.headers, text }));
    });
    sent.on("error", failed);
    sent.end(body);
  });
}

test("requests without the token, for another host or from another origin are refused", async () => {
  const project = new Project();
  try {
    await project.start();
    const opened = await ask(project, new URL(project.address).pathname + new URL(project.address).search);
    assert.equal(opened.status, 303);
    const set = opened.headers["set-cookie"][0];
    assert.match(set, /HttpOnly/);
    assert.match(set, /SameSite=Strict/);
    const cookie = set.split(";")[0];
    const json = { "content-type": "application/json", cookie };
    const page = await ask(project, "/data", { headers: { cookie } });
    assert.equal(page.status, 200);
    const csp = page.headers["content-security-policy"];
    assert.match(csp, /default-src 'none'/);
    assert.ok(!csp.includes("unsafe"));
    assert.ok(!/<script(?![^>]*src=)|<style|\son\w+=|\sstyle=/.test(page.text), "nothing is inline");
    assert.equal((await ask(project, "/data")).status, 403);
    assert.equal((await ask(project, "/open?token=wrong")).status, 403);
    assert.equal((await ask(project, "/data", { headers: { cookie, host: "evil.example" } })).status, 403);
    const body = JSON.stringify({ op: "text", value: "# taken over" });
    for (const origin of [undefined, "http://evil.example", "null", "http://localhost:1"]) {
      const headers = origin === undefined ? json : { ...json, origin };
      assert.equal((await ask(project, "/edit", { method: "POST", headers, body })).status, 403, String(origin));
    }
    assert.equal((await ask(project, "/edit", { method: "POST", headers: { "content-type": "application/json", origin: project.origin }, body })).status, 403);
    assert.ok(!project.has("policy.toml"));
    for (const text of ["# before", "# taken over"]) {
      const body = JSON.stringify({ op: "text", value: text });
      assert.equal((await ask(project, "/edit", { method: "POST", headers: { ...json, origin: project.origin }, body })).status, 200);
    }
    for (const path of ["/file?path=policy.toml", "/file?path=../x", "/file?path=/etc/passwd", "/assets/..%2fCargo.toml"]) {
      assert.equal((await ask(project, path, { headers: { cookie } })).status, 404, path);
    }
    // What shows people is kept by no cache; scripts and styles are, under an address that changes with them.
    assert.equal(page.headers["cache-control"], "no-store");
    const style = page.text.match(/\/assets\/\w+\/studio\.css/)[0];
    assert.match((await ask(project, style)).headers["cache-control"], /immutable/);
    assert.equal((await ask(project, style.replace(/assets\/\w+/, "assets/0123"))).headers["cache-control"], "no-store");
    // A page of another origin in the same browser that holds the cookie.
    const context = await (await launched()).newContext();
    project.contexts.push(context);
    const tab = await context.newPage();
    await tab.goto(project.address);
    await tab.goto("data:text/html,<form method=post></form>");
    const reached = await tab.evaluate(
      (origin) => fetch(origin + "/undo", { method: "POST", mode: "no-cors", credentials: "include" }).then((r) => r.type, () => "failed"),
      project.origin,
    );
    assert.ok(["opaque", "failed"].includes(reached));
    assert.equal(project.read("policy.toml"), "# taken over", "the foreign undo had no effect");
  } finally {
    await project.end();
  }
});

test("others are let in only with a password, and are told what that means", async () => {
  const project = new Project();
  try {
    const refused = project.amidst("studio", "--no-browser", "--host", "0.0.0.0");
    assert.equal(refused.code, 2);
    assert.match(refused.err, /password/);
    assert.equal(project.amidst("studio", "--no-browser", "--host", "0.0.0.0", "--password", "short").code, 2);
    assert.equal(project.amidst("studio", "--no-browser", "--host", "0.0.0.0", "--password", " with a space before it").code, 2);
  } finally {
    await project.end();
  }
});

const PASSWORD = "correct horse, battery";

/** This machine as others see it, or as it sees itself where it is in no network. */
function elsewhere() {
  const found = Object.values(networkInterfaces()).flat().find((one) => one.family === "IPv4" && !one.internal);
  return found?.address ?? "127.0.0.1";
}

test("whoever knows the password gets in from elsewhere, and nobody else does", async () => {
  const project = new Project();
  process.env.AMIDST_STUDIO_PASSWORD = PASSWORD;
  try {
    await project.start("--host", "0.0.0.0", "--name", "studio.example");
    assert.ok(!project.address.includes("token") && !project.address.includes("horse"), "the password is not printed");
    const port = new URL(project.address).port;
    project.origin = project.address = `http://${elsewhere()}:${port}`;
    const page = await project.page({ colorScheme: "dark" });
    assert.equal(await page.title(), "The studio is locked");
    assert.match(project.log, /whoever knows the password sees the table/);
    assert.match(project.log, /not encrypted/);
    assert.ok(!project.log.includes("horse"));
    assert.deepEqual(await violations(page), []);
    const before = Date.now();
    for (const wrong of ["nonsense", PASSWORD + "x", PASSWORD.toUpperCase()]) {
      await page.fill("#token", wrong);
      // The answer is a page like the one before it.
      await Promise.all([page.waitForEvent("load"), page.press("#token", "Enter")]);
      await page.waitForSelector("#token-wrong");
      assert.equal(await page.getAttribute("#token", "aria-invalid"), "true");
    }
    assert.ok(Date.now() - before >= 2000, "guesses are slow");
    assert.deepEqual(await violations(page), []);
    assert.equal((await ask(project, "/data")).status, 403);
    await page.fill("#token", PASSWORD);
    await page.press("#token", "Enter");
    await page.waitForURL("**/data");
    await page.reload();
    await page.waitForSelector("#drop");
    const [kept] = await page.context().cookies();
    assert.ok(kept.httpOnly && kept.sameSite === "Strict" && !decodeURIComponent(kept.value).includes("horse"));
    const stranger = await project.page();
    assert.equal(await stranger.title(), "The studio is locked");
    const cookie = `${kept.name}=${kept.value}`;
    const body = JSON.stringify({ op: "text", value: "# theirs" });
    const edit = (host, origin) => ask(project, "/edit", { method: "POST", headers: { host, origin, cookie, "content-type": "application/json" }, body });
    // By a name of somebody else's the studio is not reached, nor from a page at another address with the same port.
    assert.equal((await edit(`evil.example:${port}`, `http://evil.example:${port}`)).status, 403);
    assert.equal((await edit(`${elsewhere()}:${port}`, `http://10.9.8.7:${port}`)).status, 403);
    assert.ok(!project.has("policy.toml"));
    // The server in front that encrypts is known by the name that was given.
    assert.equal((await edit("studio.example", "https://studio.example")).status, 200);
    assert.equal(project.read("policy.toml"), "# theirs");
  } finally {
    delete process.env.AMIDST_STUDIO_PASSWORD;
    await project.end();
  }
});

test("nothing outside of the folder is read or written, and nothing too large is taken", async () => {
  const [project, other] = [new Project(), new Project()];
  try {
    other.write("secret.csv", "name\nCanary\n");
    await project.start();
    const page = await project.page();
    await dropped(page, project.patients(300));
    const [kept] = await page.context().cookies();
    const headers = { cookie: `${kept.name}=${kept.value}`, origin: project.origin, "content-type": "application/json" };
    const send = (path, body) => ask(project, path, { method: "POST", headers, body: JSON.stringify(body) });
    await send("/run/publish", { out: "mine" });
    await settled(page);
    const get = (path) => ask(project, "/file?path=" + encodeURIComponent(path), { headers });
    assert.equal((await get("mine/public/release.csv")).status, 200);
    symlinkSync(other.path("secret.csv"), project.path("mine/public/linked.csv"));
    symlinkSync(other.folder, project.path("linked"));
    for (const path of ["mine/public/linked.csv", "mine/public/../../policy.toml", "mine/public/..%2f..%2fpolicy.toml", "linked/secret.csv", other.path("secret.csv"), "mine//public/release.csv/..", ".policy.toml.history", "patients.csv", "policy.toml", "mine"]) {
      const answer = await get(path);
      assert.equal(answer.status, 404, path);
      assert.ok(!answer.text.includes("Canary"));
    }
    for (const out of ["linked/out", "../out", other.path("out"), "mine/../../out"]) {
      assert.equal((await send("/run/publish", { out, force: true })).status, 422, out);
      assert.equal((await send("/run/series", { folder: out, act: "begin" })).status, 422, out);
      assert.equal((await send("/run/verify", { folder: out })).status, 422, out);
    }
    assert.deepEqual(readdirSync(other.folder), ["secret.csv"]);
    // Names that browsers send lead nowhere else.
    const imported = await ask(project, "/import?column=sex&name=" + encodeURIComponent("../../../" + "tmp/taken.csv"), { method: "POST", headers: { ...headers, "content-type": "text/csv" }, body: "F;*\nM;*\n" });
    assert.equal(imported.status, 200);
    assert.ok(project.has("taken.csv"));
    // Bodies without end: a text of megabytes is refused, a file that breaks off leaves nothing behind.
    const [policy, names] = [project.read("policy.toml"), readdirSync(project.folder).sort()];
    const large = await send("/edit", { op: "text", value: "#".repeat(3 << 20) }).then((answer) => answer.status, (error) => error.code);
    // The server need not wait for the rest before it hangs up.
    assert.ok([413, "ECONNRESET", "EPIPE"].includes(large), String(large));
    const half = () => readdirSync(project.folder).some((name) => name.startsWith(".amidst-"));
    const url = new URL("/upload?name=half.csv", project.origin);
    const upload = request({ host: url.hostname, port: url.port, path: url.pathname + url.search, method: "POST", agent: false, headers: { ...headers, host: url.host, "content-length": String(64 << 20) } });
    const broken = new Promise((done) => upload.on("error", done));
    upload.write("a,b\n1,2\n".repeat(10_000));
    await until(half, "the file is being received");
    upload.destroy(new Error("gone"));
    await broken;
    await until(() => !half(), "what was received is removed");
    assert.deepEqual(readdirSync(project.folder).sort(), names);
    assert.equal(project.read("policy.toml"), policy);
    for (const screen of SCREENS) {
      const page = await ask(project, `/${screen}`, { headers });
      assert.equal(page.status, 200);
      const csp = page.headers["content-security-policy"];
      assert.ok(csp.includes("default-src 'none'") && csp.includes("script-src 'self'") && !csp.includes("unsafe"), screen);
      for (const [name, value] of [["x-content-type-options", "nosniff"], ["cache-control", "no-store"], ["referrer-policy", "no-referrer"]]) assert.equal(page.headers[name], value);
      assert.ok(!/<script(?![^>]*src=)|<style|\son\w+=|\sstyle=/.test(page.text), `nothing is inline on ${screen}`);
    }
  } finally {
    await project.end();
    await other.end();
  }
});

/** What a screen shows once its work is done. */
const SHOWS = { explore: "#curve", compare: "#sides", publish: "#verdict" };

test("no identifying value is shown beyond the columns, or reaches a log", async () => {
  const project = new Project();
  try {
    // Names, and numbers by which two rows each are of one person.
    const rows = Array.from({ length: 300 }, (_, i) => `Canary Person ${i},Canary-${7000 + (i >> 1)},${20 + (i % 50)},${["f", "m"][i % 2]},${["flu", "gout", "cold"][i % 3]}`);
    const file = project.beside("people.csv", "name,patient_id,age,sex,disease\n" + rows.join("\n") + "\n");
    await project.start();
    const page = await project.page();
    await dropped(page, file);
    assert.match(project.read("policy.toml"), /^\[columns\.name\]\nrole = "identifying"[\s\S]*^\[columns\.patient_id\]\nrole = "key"/m);
    for (const screen of SCREENS) {
      await to(page, screen);
      if (SHOWS[screen]) {
        await sent(page, () => page.click("#screen .primary"));
        await page.waitForSelector(SHOWS[screen]);
        await settled(page);
      }
      assert.ok(!(await page.content()).includes("Canary"), screen);
    }
    await page.goto(new URL("/data?reveal=1", page.url()).href);
    assert.ok((await page.content()).includes("Canary"), "uncovered on demand");
    assert.ok(!project.log.includes("Canary"));
  } finally {
    await project.end();
  }
});
