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

// An action applies to the minute that was shown when the key was pressed. The next one is sent when the response
// to the previous one has arrived, that is, when the counts are on disk. An action for a minute that is no longer
// shown by then is dropped.
let queue = [];
let isSending = false;
let isDisconnected = false;
export const setDisconnected = (disconnected) => { isDisconnected = disconnected; queue = []; };

export const isBusy = () => isSending || queue.length > 0;

/** Send an action; `forMinute`: it applies to the minute that is shown now. */
export function sendAction(action, { forMinute = true } = {}) {
  if (isDisconnected || session === null) return;
  queue.push({ action, number: forMinute ? session.at : null, forMinute });
  if (!isSending) sendQueue();
}

async function sendQueue() {
  isSending = true;
  notify();
  while (queue.length) {
    const { action, number, forMinute } = queue.shift();
    if (forMinute && (number === null || number !== session.at)) continue;
    const json = { revision: session.revision, ...(forMinute ? { number } : {}), ...action };
    try {
      applyResponse(await request("POST", "api/keys", { json }));
    } catch (error) {
      queue = [];
      handleError(error);
    }
  }
  isSending = false;
  notify();
}

function applyResponse({ changed, ...rest }) {
  Object.assign(session, rest);
  for (const minute of changed) session.minutes[minute.number] = minute;
  notify();
}
