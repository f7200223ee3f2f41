// The entry of every page: the server's shell names the page, this renders it.

import { render, type ComponentType } from "preact";
import { Aios } from "./pages/aios.tsx";
import { Capabilities } from "./pages/capabilities.tsx";
import { File } from "./pages/file.tsx";
import { Fleet } from "./pages/fleet.tsx";
import { Graph } from "./pages/graph.tsx";
import { Health } from "./pages/health.tsx";
import { Identity } from "./pages/identity.tsx";
import { Instructions } from "./pages/instructions.tsx";
import { Memory } from "./pages/memory.tsx";
import { Project } from "./pages/project.tsx";
import { Search } from "./pages/search.tsx";

const PAGES: Record<string, ComponentType> = {
  aios: Aios,
  capabilities: Capabilities,
  file: File,
  fleet: Fleet,
  graph: Graph,
  health: Health,
  identity: Identity,
  instructions: Instructions,
  memory: Memory,
  project: Project,
  search: Search,
};

const Page = PAGES[document.body.dataset["page"] ?? ""];
const root = document.getElementById("page");
if (Page && root) render(<Page />, root);
