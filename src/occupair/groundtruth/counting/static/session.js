// State of the counting session, and the queue of actions that are sent to the server one after the other.

import { request } from "./http.js";

/** The server's state: `minutes`, the current minute `at` (null: all done), `order`, `deletes`, `pace` ... */
export let session = null;

const listeners = [];
const notify = () => { for (const listener of listeners) listener(); };
export const onChange = (listener) => { listeners.push(listener); };

let handleError = () => {};
export const onError = (handler) => { handleError = handler; };

export async function load() {
  session = await request("GET", "api/counting");
  notify();
}

export const currentMinute = () => (session === null || session.at === null ? null : session.minutes[session.at]);

// Keys take effect in the order in which they were pressed: each one waits until the response to the previous one
// has arrived, that is, until the counts are on disk, and then applies to the minute that is current by then. Keys
// pressed right after Enter therefore count the next minute. After an error, keys that wait are dropped.
let queue = [];
let isRunning = false;
let isDisconnected = false;
export const setDisconnected = (disconnected) => { isDisconnected = disconnected; queue = []; };

export const isBusy = () => isRunning || queue.length > 0;

/** Run a step, such as sending an action, when all earlier ones are done. */
export function enqueue(step) {
  if (isDisconnected || session === null) return;
  queue.push(step);
  if (!isRunning) runQueue();
}

async function runQueue() {
  isRunning = true;
  notify();
  while (queue.length) {
    try {
      await queue.shift()();
    } catch (error) {
      await handleError(error);
      queue = [];
    }
  }
  isRunning = false;
  notify();
}

/** Send an action now; `forMinute`: it applies to the current minute. */
export async function sendAction(action, { forMinute = true } = {}) {
  if (forMinute && session.at === null) return;
  const json = { revision: session.revision, ...(forMinute ? { number: session.at } : {}), ...action };
  const { changed, ...rest } = await request("POST", "api/keys", { json });
  Object.assign(session, rest);
  for (const minute of changed) session.minutes[minute.number] = minute;
  notify();
}
