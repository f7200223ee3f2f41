// What changed last in the files that were taken in (`agentic-os/changes/v1`, the page's own).

export interface ChangedFile {
  project: string;
  path: string;
  role: string;
  changed_at: string;
}

export interface ChangesData {
  files: ChangedFile[];
  newest: Record<string, string>;
}
