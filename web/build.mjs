// Build the page into the package: one module, one style sheet, the login's script, an icon, and a
// list of them. Names carry a hash of their content, so that browsers may keep them for ever.
// `node build.mjs` writes; `node build.mjs --check` compares and writes nothing.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";

const TARGET = new URL("../src/agentic_os/web/static/", import.meta.url);
const ENTRIES = { page: "src/page.tsx", login: "src/login.ts", style: "src/page.css" };

const made = await build({
  entryPoints: Object.entries(ENTRIES).map(([out, entry]) => ({ in: entry, out })),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  write: false,
  outdir: "out",
});

const files = new Map();
const names = {};
for (const { path, contents } of made.outputFiles) {
  const [, name, kind] = /([a-z]+)\.(js|css)$/.exec(path);
  keep(name, kind, contents);
}
keep("icon", "svg", await readFile(new URL("src/icon.svg", import.meta.url)));
files.set("names.json", Buffer.from(`${JSON.stringify(names, Object.keys(names).sort(), 2)}\n`));
files.set("LICENSES.txt", await licences());

if (process.argv.includes("--check")) await check();
else await publish();

function keep(name, kind, contents) {
  const hash = createHash("sha256").update(contents).digest("hex").slice(0, 12);
  names[name] = `${name}.${hash}.${kind}`;
  files.set(names[name], Buffer.from(contents));
}

async function licences() {
  const licence = await readFile(new URL("node_modules/preact/LICENSE", import.meta.url), "utf8");
  return Buffer.from(`The page's script contains Preact:\n\n${licence}`);
}

async function publish() {
  await rm(TARGET, { recursive: true, force: true });
  await mkdir(TARGET, { recursive: true });
  for (const [name, contents] of files) await writeFile(new URL(name, TARGET), contents);
}

async function check() {
  const standing = await readdir(TARGET).catch(() => []);
  const stale = [...new Set([...standing, ...files.keys()])].filter((name) => name !== "__init__.py");
  const wrong = [];
  for (const name of stale) {
    const now = await readFile(new URL(name, TARGET)).catch(() => undefined);
    if (!now || !files.get(name)?.equals(now)) wrong.push(name);
  }
  if (wrong.length > 0) {
    console.error(`not as built: ${wrong.join(", ")}; run make page`);
    process.exit(1);
  }
}
