// Opens pages in headless Chromium for the tests. Reads one JSON request a line on standard input:
//   {"page": PATH or URL, "steps": [["fill", "#token", "…"], …], "width": 1000, "height": 800, "scheme": "light"|"dark", "script": "…", "screenshot": PATH, "full": true}
// with calls of the page that are made before the script, and answers each with one line: what the console said, which addresses were asked for, what `script` (the body of an
// async function in the page) returned. NODE_PATH has to lead to playwright-core; CHROMIUM names the browser.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(`${process.env.NODE_PATH}/`)("playwright-core");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

async function look({ page: path, steps = [], width = 1000, height = 800, scheme = "light", script, screenshot, full = true, print }) {
  const served = path.startsWith("http://");
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, offline: !served });
  const page = await context.newPage();
  const console = [];
  const requests = [];
  page.on("console", (message) => console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => console.push(`error: ${error.message}`));
  page.on("request", (request) => requests.push(request.url()));
  page.on("dialog", (dialog) => { console.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  try {
    const began = Date.now();
    await page.goto(served ? path : pathToFileURL(path).href, { waitUntil: "load" });
    for (const [call, ...values] of steps) await page[call](...values);
    const seconds = (Date.now() - began) / 1000;
    const value = script === undefined ? null : await page.evaluate(`(async () => { ${script} })()`);
    if (screenshot) await page.screenshot({ path: screenshot, fullPage: full });
    if (print) await page.pdf({ path: print });
    return { console, requests: requests.filter((url) => !url.startsWith("data:")).slice(1), value, seconds };
  } finally {
    await context.close();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = await look(JSON.parse(line));
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
