// What the counting program knows, and the keys on their way to it, one after the other.

import { ask } from "./http.js";

/** All of it: `minutes`, where the person is (`at`; null: at the end), `order`, `deletes`, `pace` ... */
export let book = null;

const listeners = [];
const told = () => { for (const f of listeners) f(); };
export const onChange = (f) => { listeners.push(f); };

let onTrouble = () => {};
export const whenTrouble = (f) => { onTrouble = f; };

export async function load() {
  book = await ask("GET", "api/counting");
  told();
}

export const here = () => (book === null || book.at === null ? null : book.minutes[book.at]);

// A key means the minute that was seen when it was pressed. The next is sent when the answer to the one
// before has come, which is when the counts are on the disk; a key for a minute that is left by then is dropped.
let waiting = [];
let isSending = false;
let isLost = false;
export const setLost = (lost) => { isLost = lost; waiting = []; };

export const isBusy = () => isSending || waiting.length > 0;

/** Send a key. `bound`: it is about the minute that is shown now. */
export function press(key, { bound = true } = {}) {
  if (isLost || book === null) return;
  waiting.push({ key, number: bound ? book.at : null, bound });
  if (!isSending) send();
}

async function send() {
  isSending = true;
  told();
  while (waiting.length) {
    const { key, number, bound } = waiting.shift();
    if (bound && (number === null || number !== book.at)) continue;
    try {
      take(await ask("POST", "api/keys", { json: { revision: book.revision, ...(bound ? { number } : {}), ...key } }));
    } catch (failed) {
      waiting = [];
      onTrouble(failed);
    }
  }
  isSending = false;
  told();
}

function take({ changed, ...rest }) {
  Object.assign(book, rest);
  for (const row of changed) book.minutes[row.number] = row;
  told();
}
