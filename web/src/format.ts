// Dates and numbers in the reader's own manner.

const locale = typeof navigator === "undefined" ? "en" : navigator.language;
const numbers = new Intl.NumberFormat(locale);
const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

export const number = (value: number): string => numbers.format(value);

/** A number and its noun: `1 hit`, `2 hits`. */
export const count = (value: number, noun: string, nouns = `${noun}s`): string =>
  `${number(value)} ${value === 1 ? noun : nouns}`;

export function moment(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : moments.format(date);
}

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

export function ago(seconds: number): string {
  const [unit, size] = STEPS.find(([, size]) => seconds >= size) ?? ["second", 1];
  return relative.format(-Math.round(seconds / size), unit);
}

/** The first characters of a hash or commit, which people compare by eye. */
export const short = (hash: string): string => hash.slice(0, 10);
