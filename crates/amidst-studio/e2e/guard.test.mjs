// Who may speak to the studio, and what it hands out.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, test } from "node:test";
import { House, closed, drop, launched, settled, to } from "./house.mjs";

after(closed);

function ask(house, path, { method = "GET", headers = {}, body = "" } = {}) {
  const url = new URL(path, house.origin);
  return new Promise((done, failed) => {
    const sent = request({ host: url.hostname, port: url.port, path: url.pathname + url.search, method, headers: { host: url.host, ...headers } }, (answer) => {
      let text = "";
      answer.on("data", (data) => (text += data));
      answer.on("end", () => done({ status: answer.statusCode, headers: answer.headers, text }));
    });
    sent.on("error", failed);
    sent.end(body);
  });
}

test("requests without the token, for another host or from another origin are refused", async () => {
  const house = new House();
  try {
    await house.start();
    const opened = await ask(house, new URL(house.address).pathname + new URL(house.address).search);
    assert.equal(opened.status, 303);
    const set = opened.headers["set-cookie"][0];
    assert.match(set, /HttpOnly/);
    assert.match(set, /SameSite=Strict/);
    const cookie = set.split(";")[0];
    const json = { "content-type": "application/json", cookie };
    const page = await ask(house, "/data", { headers: { cookie } });
    assert.equal(page.status, 200);
    const csp = page.headers["content-security-policy"];
    assert.match(csp, /default-src 'none'/);
    assert.ok(!csp.includes("unsafe"));
    assert.ok(!/<script(?![^>]*src=)|<style|\son\w+=|\sstyle=/.test(page.text), "nothing is inline");
    assert.equal((await ask(house, "/data")).status, 403);
    assert.equal((await ask(house, "/open?token=wrong")).status, 403);
    assert.equal((await ask(house, "/data", { headers: { cookie, host: "evil.example" } })).status, 403);
    const body = JSON.stringify({ op: "text", value: "# taken over" });
    for (const origin of [undefined, "http://evil.example", "null", "http://localhost:1"]) {
      const headers = origin === undefined ? json : { ...json, origin };
      assert.equal((await ask(house, "/edit", { method: "POST", headers, body })).status, 403, String(origin));
    }
    assert.equal((await ask(house, "/edit", { method: "POST", headers: { "content-type": "application/json", origin: house.origin }, body })).status, 403);
    assert.ok(!house.has("policy.toml"));
    assert.equal((await ask(house, "/edit", { method: "POST", headers: { ...json, origin: house.origin }, body })).status, 200);
    for (const path of ["/file?path=policy.toml", "/file?path=../x", "/file?path=/etc/passwd", "/assets/..%2fCargo.toml"]) {
      assert.equal((await ask(house, path, { headers: { cookie } })).status, 404, path);
    }
    // A page of another origin in the same browser that holds the cookie.
    const context = await (await launched()).newContext();
    const tab = await context.newPage();
    await tab.goto(house.address);
    await tab.goto("data:text/html,<form method=post></form>");
    const reached = await tab.evaluate(
      (origin) => fetch(origin + "/undo", { method: "POST", mode: "no-cors", credentials: "include" }).then((r) => r.type, () => "failed"),
      house.origin,
    );
    assert.ok(["opaque", "failed"].includes(reached));
    assert.equal(house.read("policy.toml"), "# taken over", "the foreign undo had no effect");
  } finally {
    await house.end();
  }
});

test("others are let in only with a password, and are told what that means", async () => {
  const house = new House();
  try {
    const refused = house.amidst("studio", "--no-browser", "--host", "0.0.0.0");
    assert.equal(refused.code, 2);
    assert.match(refused.err, /password/);
    assert.equal(house.amidst("studio", "--no-browser", "--host", "0.0.0.0", "--password", "short").code, 2);
  } finally {
    await house.end();
  }
});

test("no identifying value is shown beyond the columns, or reaches a log", async () => {
  const house = new House();
  try {
    const rows = Array.from({ length: 300 }, (_, i) => `Canary Person ${i},${20 + (i % 50)},${["f", "m"][i % 2]},${["flu", "gout", "cold"][i % 3]}`);
    const file = house.write("../people.csv", "name,age,sex,disease\n" + rows.join("\n") + "\n");
    await house.start();
    const page = await house.page();
    await drop(page, file);
    await page.waitForSelector("text=Next: what the columns are");
    await settled(page);
    for (const screen of ["data", "columns", "hierarchies", "protection", "explore", "compare", "publish"]) {
      await to(page, screen);
      if (["explore", "compare", "publish"].includes(screen)) {
        await page.click("#screen .primary");
        await settled(page);
      }
      assert.ok(!(await page.content()).includes("Canary"), screen);
    }
    await page.goto(new URL("/data?reveal=1", page.url()).href);
    assert.ok((await page.content()).includes("Canary"), "uncovered on demand");
    assert.ok(!house.log.includes("Canary"));
  } finally {
    await house.end();
  }
});
