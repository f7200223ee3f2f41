// Bundle the tests, which are TypeScript, and run them with Node's own runner.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = await mkdtemp(join(tmpdir(), "page-tests-"));
await build({ entryPoints: ["test/view.test.ts"], bundle: true, platform: "node", format: "esm", outfile: join(folder, "view.test.mjs") });
const { status } = spawnSync(process.execPath, ["--test", join(folder, "view.test.mjs")], { stdio: "inherit" });
await rm(folder, { recursive: true });
process.exit(status ?? 1);
