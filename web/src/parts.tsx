// What every page is made of. Text of projects is always a text node, never markup.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Answer, Omission, Problem, Warning } from "./api.ts";
import { count } from "./format.ts";
import type { Asked } from "./state.ts";

const PAGES: readonly [path: string, name: string][] = [
  ["/", "Fleet"],
  ["/search", "Search"],
  ["/memory", "Memory"],
  ["/capabilities", "Capabilities"],
  ["/instructions", "Instructions"],
  ["/graph", "Graph"],
  ["/aios", "Your folder"],
  ["/identity", "Identity"],
  ["/health", "Health"],
];

/** The frame of a page: navigation, heading, content. */
export function Frame(properties: { title: string; children: ComponentChildren; command?: string }) {
  useEffect(() => {
    document.title = `${properties.title} · agentic-os`;
  }, [properties.title]);
  return (
    <>
      <a class="skip" href="#main">Skip to the content</a>
      <header class="top">
        <strong class="brand">agentic-os</strong>
        <nav aria-label="Pages">
          {PAGES.map(([path, name]) => (
            <a href={path} aria-current={location.pathname === path ? "page" : undefined}>{name}</a>
          ))}
        </nav>
      </header>
      <main id="main" tabIndex={-1}>
        <h1>{properties.title}</h1>
        {properties.children}
        {properties.command && <Command line={properties.command} />}
      </main>
    </>
  );
}

/** The same question as a command, to copy. */
export function Command(properties: { line: string }) {
  return (
    <p class="command">
      <span>The same as a command:</span> <code>{properties.line}</code> <Copy text={properties.line} />
    </p>
  );
}

export function Copy(properties: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard.writeText(properties.text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    });
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      {copied ? "Copied" : (properties.label ?? "Copy")}
    </button>
  );
}

export function ProblemNote(properties: { problem: Problem }) {
  const { problem } = properties;
  return (
    <div class="note error" role="alert">
      <strong>{problem.message}</strong> <code>{problem.code}</code>
      {problem.hint && <p>{problem.hint}</p>}
    </div>
  );
}

/** What an answer says beside its data: warnings, and what was left out. */
export function Notes(properties: { omissions: Omission[]; warnings: Warning[] }) {
  const { omissions, warnings } = properties;
  const told = warnings.filter((item) => item.severity !== "info");
  if (told.length + omissions.length === 0) return null;
  const title = [
    told.length ? count(told.length, "warning") : "",
    omissions.length ? `${count(omissions.length, "item")} left out` : "",
  ].filter(Boolean).join(", ");
  return (
    <details class="note warning">
      <summary>{title}</summary>
      <ul>
        {told.map((item) => (
          <li>
            <code>{item.code}</code> {item.path && <span class="path">{item.path}{item.line ? `:${item.line}` : ""}</span>}{" "}
            {item.message} {item.hint && <em>{item.hint}</em>}
          </li>
        ))}
        {omissions.map((item) => (
          <li><code>{item.code}</code> <span class="path">{item.scope}</span> {item.reason}</li>
        ))}
      </ul>
    </details>
  );
}

/** An answer's data once it is there; its problem or its notes otherwise and besides. */
export function Shown<T>(properties: { asked: Asked<T>; children: (data: T, answer: Answer<T>) => ComponentChildren }) {
  const { answer, problem, waiting } = properties.asked;
  if (problem?.code === "STORE_LOCKED") return <p class="wait" role="status">The fleet is being read for the first time; the answer follows by itself.</p>;
  if (problem) return <ProblemNote problem={problem} />;
  if (!answer) return waiting ? <p class="wait" role="status">Reading…</p> : null;
  return (
    <div class={waiting ? "stale" : undefined} aria-busy={waiting}>
      {properties.children(answer.data, answer)}
      <Notes omissions={answer.omissions} warnings={answer.warnings} />
    </div>
  );
}

export function Badge(properties: { kind?: string; children: ComponentChildren; title?: string }) {
  return <span class={`badge ${properties.kind ?? ""}`} title={properties.title}>{properties.children}</span>;
}

export interface Column<T> {
  name: string;
  cell: (row: T) => ComponentChildren;
  order?: (row: T) => string | number;
  numeric?: boolean;
}

const PAGE_ROWS = 100;

/** A table that sorts, and that shows a hundred rows at a time. On a narrow screen rows stack. */
export function Table<T>(properties: {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  id: (row: T) => string;
  sorted?: string;
}) {
  const [sorting, setSorting] = useState({ name: properties.sorted ?? "", down: false });
  const [first, setFirst] = useState(0);
  const column = properties.columns.find((item) => item.name === sorting.name);
  const rows = column?.order ? ordered(properties.rows, column.order, sorting.down) : properties.rows;
  useEffect(() => setFirst(0), [properties.rows.length]);
  const sort = (name: string) => setSorting({ name, down: sorting.name === name && !sorting.down });
  return (
    <div class="scroll" role="region" aria-label={properties.caption} tabIndex={0}>
      <table>
        <caption class="hidden">{properties.caption}</caption>
        <thead>
          <tr>
            {properties.columns.map((item) => (
              <th scope="col" aria-sort={item.name === sorting.name ? (sorting.down ? "descending" : "ascending") : undefined}>
                {item.order
                  ? <button type="button" class="sort" onClick={() => sort(item.name)}>{item.name}</button>
                  : item.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(first, first + PAGE_ROWS).map((row) => (
            <tr key={properties.id(row)}>
              {properties.columns.map((item) => (
                <td data-name={item.name} class={item.numeric ? "numeric" : undefined}>{item.cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > PAGE_ROWS && (
        <p class="pages">
          <button type="button" disabled={first === 0} onClick={() => setFirst(first - PAGE_ROWS)}>Previous</button>
          <span role="status">{first + 1} to {Math.min(first + PAGE_ROWS, rows.length)} of {rows.length}</span>
          <button type="button" disabled={first + PAGE_ROWS >= rows.length} onClick={() => setFirst(first + PAGE_ROWS)}>Next</button>
        </p>
      )}
    </div>
  );
}

function ordered<T>(rows: readonly T[], order: (row: T) => string | number, down: boolean): T[] {
  const sign = down ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [order(one), order(other)];
    const compared = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return sign * compared;
  });
}

/** A labelled field that filters or asks. */
export function Field(properties: {
  label: string;
  value: string;
  onText: (text: string) => void;
  placeholder?: string;
  id?: string;
  wide?: boolean;
}) {
  const { label, onText, wide, ...rest } = properties;
  return (
    <label class={wide ? "field wide" : "field"}>
      <span>{label}</span>
      <input type="search" autocomplete="off" spellcheck={false} {...rest} onInput={(event) => onText(event.currentTarget.value)} />
    </label>
  );
}

export function Choice(properties: { label: string; value: string; options: readonly [value: string, name: string][]; onChoice: (value: string) => void }) {
  return (
    <label class="field">
      <span>{properties.label}</span>
      <select value={properties.value} onChange={(event) => properties.onChoice(event.currentTarget.value)}>
        {properties.options.map(([value, name]) => <option value={value}>{name}</option>)}
      </select>
    </label>
  );
}

/** The address of a file's page, at a line. */
export function fileAddress(project: string, path: string, line: number): string {
  return `/file?${new URLSearchParams({ project, path, line: String(line) })}`;
}

export const projectAddress = (project: string): string => `/project?${new URLSearchParams({ id: project })}`;
