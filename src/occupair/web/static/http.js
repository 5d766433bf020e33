// Requests to this page's own server.

/** What went wrong, as one plain sentence, with the HTTP status (0: no answer at all). */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let onLoginNeeded = () => {};
export const whenLoginNeeded = (f) => { onLoginNeeded = f; };

const PLAIN = {
  403: "Your token does not allow that.",
  404: "There is no such thing here.",
  413: "That is too large for this service.",
  429: "That was too often. Wait a moment, then try again.",
  503: "The service cannot keep that at the moment. Try again in a moment.",
};

function sentence(status, detail) {
  const text = typeof detail === "string" ? detail : Array.isArray(detail) && detail[0]?.msg;
  if (!text) return PLAIN[status] || `The service answered with error ${status}.`;
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

/** Send a request; throws an `ApiError` unless the response is a success. */
export async function send(path, options) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (failed) {
    if (failed.name === "AbortError") throw failed;
    throw new ApiError(0, "The service cannot be reached.");
  }
  if (answer.ok) return answer;
  const detail = await answer.json().then((body) => body.detail, () => null);
  if (answer.status === 401 && path !== "api/login") onLoginNeeded();
  throw new ApiError(answer.status, sentence(answer.status, detail));
}

/** Ask for JSON; `json` or `body` is sent along. */
export async function ask(method, path, { json, body, signal } = {}) {
  const headers = {};
  if (json !== undefined) headers["Content-Type"] = "application/json";
  if (body !== undefined) headers["Content-Type"] = "application/octet-stream";
  const answer = await send(path, { method, headers, signal, body: json !== undefined ? JSON.stringify(json) : body });
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
}
