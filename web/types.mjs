// Write the TypeScript types of the documents from the JSON Schemas that the command line publishes,
// so that a field renamed there breaks the page's build and not its readers.
import { compile } from "json-schema-to-typescript";
import { mkdir, readFile, writeFile } from "node:fs/promises";

const SCHEMAS = new URL("../docs/reference/schemas/", import.meta.url);
const TARGET = new URL("./src/generated/documents.ts", import.meta.url);
const DOCUMENTS = [
  "scan", "search", "memory", "memory-differences", "vault", "capabilities", "doctor",
  "index-status", "instructions", "graph-find", "graph-neighbors", "graph-path", "graph-impact", "graph-links",
  "graph-stats", "ledger-show", "ledger-verify",
];

const definitions = {};
for (const name of DOCUMENTS) {
  const schema = JSON.parse(await readFile(new URL(`${name}.json`, SCHEMAS), "utf8"));
  for (const [key, value] of Object.entries(schema.$defs ?? {})) {
    if (!key.startsWith("Envelope")) definitions[key] = tidy(value);
  }
}
const types = await compile(
  { title: "Documents", type: "object", additionalProperties: false, $defs: definitions },
  "Documents",
  { bannerComment: "// Generated from docs/reference/schemas by `npm run types`.", unreachableDefinitions: true },
);
await mkdir(new URL("./", TARGET), { recursive: true });
await writeFile(TARGET, types);

/** Make every declared member present, as the documents always write them. */
function tidy(value) {
  if (Array.isArray(value)) return value.map(tidy);
  if (value === null || typeof value !== "object") return value;
  const made = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, tidy(item)]));
  if (made.type === "object" && made.properties) {
    made.required = Object.keys(made.properties);
    made.additionalProperties ??= false;
  }
  if (made.prefixItems) {
    made.items = made.prefixItems;
    made.additionalItems = false;
    delete made.prefixItems;
  }
  delete made.default;
  return made;
}
