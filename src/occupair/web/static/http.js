// Requests to this page's own server.

import { language, t } from "./i18n.js";

/** An error with a text for the user and the HTTP status (0: the server did not respond). */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let loginRequired = () => {};
/** Call `listener()` whenever the server responds 401. */
export const onLoginRequired = (listener) => { loginRequired = listener; };

function statusText(status) {
  const texts = {
    401: t("error.401"), 403: t("error.403"), 404: t("error.404"), 409: t("error.409"), 413: t("error.413"),
    422: t("error.422"), 429: t("error.429"), 503: t("error.503"), 507: t("error.507"),
  };
  return texts[status] ?? t("error.status", { status: String(status) });
}

function asSentence(text) {
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Error details are in English: in other languages the meaning of the status comes first. */
function errorText(status, detail) {
  if (typeof detail !== "string" || !detail) return statusText(status);
  return language === "en" ? asSentence(detail) : `${statusText(status)} (${detail})`;
}

/** Send a request; throws an `ApiError` unless the response is a success. */
export async function send(path, { headers = {}, ...options } = {}) {
  let response;
  try {
    response = await fetch(path, {
      credentials: "same-origin", cache: "no-store", headers: { "Accept-Language": language, ...headers }, ...options,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, t("error.unreachable"));
  }
  if (response.ok) return response;
  const detail = await response.json().then((body) => body.detail, () => null);
  if (response.status === 401 && path !== "api/login") loginRequired();
  throw new ApiError(response.status, errorText(response.status, detail));
}

/** Send a request with an optional body, `json` or `body` of a `type`, and return the JSON of the response. */
export async function request(method, path, { json, body, type = "application/octet-stream", signal } = {}) {
  const headers = {};
  if (json !== undefined) headers["Content-Type"] = "application/json";
  if (body !== undefined) headers["Content-Type"] = type;
  const sent = json !== undefined ? JSON.stringify(json) : body;
  const response = await send(path, { method, headers, signal, body: sent });
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}
