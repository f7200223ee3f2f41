import { useEffect, useRef, useState } from "preact/hooks";
import type { Hit, SearchData } from "../generated/documents.ts";
import { count, moment, short } from "../format.ts";
import { Badge, Choice, Copy, Field, Frame, Shown, fileAddress, projectAddress } from "../parts.tsx";
import { useAnswer, useParameter, useParameters } from "../state.ts";
import { marked, worthAsking } from "../words.ts";
import { Editor } from "./file.tsx";

const MODES: readonly [string, string][] = [["", "best"], ["lexical", "words"], ["semantic", "meaning"], ["hybrid", "both"]];
const LIMIT = 20;

/** A passage with the words of the question marked: text nodes and `mark` elements only. */
function Passage(properties: { text: string; question: string }) {
  return (
    <pre class="passage">
      {marked(properties.text, properties.question).map(([text, hit]) => (hit ? <mark>{text}</mark> : text))}
    </pre>
  );
}

/** Why a hit stands where it does, in words. */
function Why(properties: { hit: Hit; question: string }) {
  const { hit } = properties;
  // What each surface did is asked for when somebody looks: it costs more than the hits.
  const [open, setOpen] = useState(false);
  const asked = useAnswer<SearchData>("search", open ? { q: properties.question, project: hit.project, limit: 1, explain: 1 } : undefined, false);
  const traces = asked.answer?.data.explain ?? [];
  return (
    <details class="why" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Why this hit</summary>
      <dl class="facts">
        <dt>Tier</dt><dd>{hit.tier === null ? "none: a capability belongs to no tier" : hit.tier}</dd>
        <dt>Relevance</dt><dd>{Math.round(100 * hit.relevance)} %, how likely it answers</dd>
        <dt>Score</dt><dd>{hit.score.toFixed(3)}</dd>
        <dt>Read again</dt>
        <dd>{hit.confirmed ? "yes, just now: the file holds these lines" : "no: the file could not be compared"}</dd>
        {hit.branch && <><dt>Branch</dt><dd>{hit.branch} {hit.commit && <code>{short(hit.commit)}</code>}</dd></>}
        <dt>Taken in</dt><dd>{moment(hit.indexed_at)}</dd>
        <dt>Hash</dt><dd><code>{short(hit.sha256)}</code></dd>
        {traces.map((trace) => (
          <><dt>{trace.surface}</dt><dd>{trace.missing ?? `${count(trace.hits, "hit")} in ${trace.milliseconds.toFixed(1)} ms`}</dd></>
        ))}
      </dl>
    </details>
  );
}

function HitCard(properties: { hit: Hit; question: string }) {
  const { hit, question } = properties;
  const [line] = hit.lines;
  const place = `${hit.project}:${hit.path}:${line}`;
  return (
    <li class="hit">
      <h2 class="name"><a class="title" href={fileAddress(hit.project, hit.path, line)}>{hit.name || hit.path}</a></h2>
      <p class="place">
        <Badge>{hit.kind}</Badge> <a href={projectAddress(hit.project)}>{hit.project}</a>{" "}
        <span class="path">{hit.path}:{line}</span> {!hit.confirmed && <Badge kind="odd">not confirmed</Badge>}
        {hit.stale && <Badge kind="odd">stale</Badge>} <Copy text={place} label="Copy reference" /> <Editor project={hit.project} path={hit.path} line={line} />
      </p>
      <Passage text={hit.snippet} question={question} />
      <Why hit={hit} question={question} />
    </li>
  );
}

/** How many of the shown hits each value has; a click narrows to it, or widens again. */
function Facet(properties: { name: string; values: readonly string[]; chosen: readonly string[]; onChoice: (values: string[]) => void }) {
  const counts = new Map<string, number>();
  for (const value of properties.values) counts.set(value, (counts.get(value) ?? 0) + 1);
  for (const value of properties.chosen) if (!counts.has(value)) counts.set(value, 0);
  if (counts.size === 0) return null;
  const toggle = (value: string) =>
    properties.onChoice(properties.chosen.includes(value)
      ? properties.chosen.filter((one) => one !== value)
      : [...properties.chosen, value]);
  return (
    <fieldset class="facet">
      <legend>{properties.name}</legend>
      {[...counts].sort((one, other) => other[1] - one[1]).slice(0, 12).map(([value, number]) => (
        <button type="button" aria-pressed={properties.chosen.includes(value)} onClick={() => toggle(value)}>{value} <span class="muted">{number}</span></button>
      ))}
    </fieldset>
  );
}

/** Move between hits with the arrow keys, and to the question with a slash. */
function useKeys(): void {
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const field = document.getElementById("question");
      const typing = document.activeElement instanceof HTMLInputElement || document.activeElement instanceof HTMLSelectElement;
      if (event.key === "/" && !typing) {
        event.preventDefault();
        field?.focus();
      }
      if (event.key === "Escape" && typing) (document.activeElement as HTMLElement).blur();
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      if (document.activeElement instanceof HTMLSelectElement) return;
      const titles = [...document.querySelectorAll<HTMLElement>("a.title")];
      const at = titles.findIndex((title) => title === document.activeElement);
      const next = event.key === "ArrowDown" ? at + 1 : at - 1;
      if (next < -1 || titles.length === 0) return;
      event.preventDefault();
      (next < 0 ? field : titles[Math.min(next, titles.length - 1)])?.focus();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
}

export function Search() {
  const [text, setText] = useParameter("q");
  const [mode, setMode] = useParameter("mode");
  const [projects, setProjects] = useParameters("project");
  const [kinds, setKinds] = useParameters("kind");
  const rested = text;
  const asking = worthAsking(rested);
  const asked = useAnswer<SearchData>("search", asking
    ? { q: rested, mode: mode || undefined, project: projects, kind: kinds, limit: LIMIT }
    : undefined);
  const first = useRef(true);
  useEffect(() => {
    if (first.current) document.getElementById("question")?.focus();
    first.current = false;
  }, []);
  useKeys();
  const words = rested ? ` '${rested.replaceAll("'", "'\\''")}'` : " QUERY";
  const options = [...projects.map((one) => ` --project ${one}`), ...kinds.map((one) => ` --kind ${one}`), mode && ` --mode ${mode}`];
  return (
    <Frame title="Search" command={`agentic-os search${words}${options.join("")}`}>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field label="Question" id="question" wide value={text} onText={setText} placeholder="what you look for, in your own words" />
        <Choice label="Find by" value={mode} onChoice={setMode} options={MODES} />
      </form>
      {!asking && <p class="empty">Type at least two letters. <kbd>/</kbd> goes to the question, <kbd>↓</kbd> and <kbd>↑</kbd> through the hits, <kbd>Enter</kbd> opens one.</p>}
      {asking && (
        <Shown asked={asked}>
          {(data) => (
            <div class="results">
              <aside aria-label="Narrow the hits">
                <Facet name="Kind" values={data.hits.map((hit) => hit.kind)} chosen={kinds} onChoice={setKinds} />
                <Facet name="Project" values={data.hits.map((hit) => hit.project)} chosen={projects} onChoice={setProjects} />
              </aside>
              <div>
                <p role="status">
                  {data.hits.length === 0 ? "Nothing was found" : data.nothing_found ? "Nothing answers this; the nearest passages are shown" : `${data.hits.length} of ${count(data.total, "hit")}`}
                  {" "}in {count(data.coverage.projects_searched, "project")}
                  {data.coverage.relaxed && "; no passage has every word"}
                  {data.coverage.stale && "; the list may be a moment old"}
                </p>
                {data.near.length > 0 && (
                  <p>Spelled nearly so: {data.near.map((word) => <button type="button" class="link" onClick={() => setText(word)}>{word}</button>)}</p>
                )}
                <ol class="hits">
                  {data.hits.map((hit) => <HitCard key={`${hit.project}:${hit.path}:${hit.lines[0]}:${hit.kind}`} hit={hit} question={rested} />)}
                </ol>
              </div>
            </div>
          )}
        </Shown>
      )}
    </Frame>
  );
}
