// The HTTP interface of the live service: rooms, history and the stream of states.

import { ask, send } from "./http.js";

export const roomPath = (room, rest = "") => `api/rooms/${encodeURIComponent(room)}${rest}`;

export const login = (token) => ask("POST", "api/login", { json: { token } });

/** All estimates of a room in [from, to) [ms], page by page. */
export async function history(room, from, to, signal) {
  const estimates = [];
  let after = null;
  do {
    const query = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
    if (after !== null) query.set("after", after);
    const page = await ask("GET", `${roomPath(room, "/history")}?${query}`, { signal });
    estimates.push(...page.estimates);
    after = page.next ?? null;
  } while (after !== null && !signal?.aborted);
  return estimates;
}

const SILENCE = 45000; // three heartbeats [ms]

/** Parse one server-sent event: its name and data, or null for a heartbeat. */
function parseEvent(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { name, data: data.join("\n") } : null;
}

/** Read the stream once, until it ends or falls silent; throws when it cannot be had. */
async function readStream({ signal, opened, states }) {
  const quiet = new AbortController();
  let timer = setTimeout(() => quiet.abort(), SILENCE);
  const stop = () => quiet.abort();
  signal.addEventListener("abort", stop);
  try {
    const answer = await send("api/events", { headers: { Accept: "text/event-stream" }, signal: quiet.signal });
    opened();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), SILENCE);
      text += value.replaceAll("\r", "");
      const blocks = text.split("\n\n");
      text = blocks.pop();
      for (const event of blocks.map(parseEvent)) if (event?.name === "state") states(JSON.parse(event.data));
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Follow the states for ever, with back-off from 1 s to 15 s.
 *
 * `on.opened()` when the stream is there, `on.states(list)` for what comes, `on.lost(seconds)` when it
 * went and how long until the next try. Returns `{retry, stop}`.
 */
export function follow(on) {
  const life = new AbortController();
  let wait = 1;
  let wake = () => {};
  (async () => {
    while (!life.signal.aborted) {
      try {
        await readStream({ signal: life.signal, opened: () => { wait = 1; on.opened(); }, states: on.states });
      } catch (failed) {
        if (failed.status === 401) return;
      }
      if (life.signal.aborted) return;
      on.lost(wait);
      await new Promise((resolve) => { wake = resolve; setTimeout(resolve, wait * 1000); });
      wait = Math.min(15, wait * 2);
    }
  })();
  return { retry: () => wake(), stop: () => { life.abort(); wake(); } };
}
