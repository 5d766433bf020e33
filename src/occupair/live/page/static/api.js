// The HTTP interface of the live service: rooms, history and the event stream.

import { request, send } from "./http.js";

export const roomPath = (room, rest = "") => `api/rooms/${encodeURIComponent(room)}${rest}`;

export const login = (token) => request("POST", "api/login", { json: { token } });

/** Fetch all estimates of a room in [from, to) [ms], page by page. */
export async function fetchHistory(room, from, to, signal) {
  const estimates = [];
  let after = null;
  do {
    const query = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
    if (after !== null) query.set("after", after);
    const page = await request("GET", `${roomPath(room, "/history")}?${query}`, { signal });
    estimates.push(...page.estimates);
    after = page.next ?? null;
  } while (after !== null && !signal?.aborted);
  return estimates;
}

const SILENCE_LIMIT = 45000; // three heartbeats [ms]

/** Parse one server-sent event into its name and data; null for a heartbeat. */
function parseEvent(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { name, data: data.join("\n") } : null;
}

/** Read the event stream until it ends or falls silent; throws if it cannot be opened. */
async function readStream({ signal, onOpen, onStates }) {
  const watchdog = new AbortController();
  let timer = setTimeout(() => watchdog.abort(), SILENCE_LIMIT);
  const stop = () => watchdog.abort();
  signal.addEventListener("abort", stop);
  try {
    const response = await send("api/events", { headers: { Accept: "text/event-stream" }, signal: watchdog.signal });
    onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => watchdog.abort(), SILENCE_LIMIT);
      text += value.replaceAll("\r", "");
      const blocks = text.split("\n\n");
      text = blocks.pop();
      for (const event of blocks.map(parseEvent)) if (event?.name === "state") onStates(JSON.parse(event.data));
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

export const MAX_WAIT = 15; // between attempts to connect [s]

/**
 * Follow the room states, reconnecting with a back-off from 1 s to 15 s.
 *
 * Calls `onOpen()` when the stream is connected, `onStates(list)` for new states and `onLost()` when the
 * connection was lost. If the service refuses the stream because it has too many viewers, `onRefused()` is
 * called every 15 s instead; if that fails, the connection is lost. Returns `{retry, stop}`.
 */
export function followStates({ onOpen, onStates, onLost, onRefused }) {
  const lifetime = new AbortController();
  let wait = 1;
  let wake = () => {};

  /** Keep the stream open as long as possible; returns whether to try again. */
  async function connect() {
    try {
      await readStream({ signal: lifetime.signal, onOpen: () => { wait = 1; onOpen(); }, onStates });
    } catch (error) {
      if (error.status === 401) return false;
      if (error.status === 503 && await onRefused().then(() => true, () => false)) {
        wait = MAX_WAIT;
        return true;
      }
    }
    if (!lifetime.signal.aborted) onLost();
    return true;
  }

  (async () => {
    while (!lifetime.signal.aborted && await connect()) {
      await new Promise((resolve) => { wake = resolve; setTimeout(resolve, wait * 1000); });
      wait = Math.min(MAX_WAIT, wait * 2);
    }
  })();
  return { retry: () => wake(), stop: () => { lifetime.abort(); wake(); } };
}
