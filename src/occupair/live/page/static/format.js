// Formatting of states for display. Unknown values are "–", never 0.

import { formatNumber, t } from "./i18n.js";

const isKnown = (value) => value !== null && value !== undefined;

/** Whether the occupancy of a room is known. */
export const isOccupancyKnown = (state) => Boolean(state) && isKnown(state.people);

export const formatOccupancy = (state) => (isOccupancyKnown(state) ? formatNumber(state.people) : "–");

/** "12 people" */
export const formatPeople = (count) => t("people", { count });

/** Only the unit that belongs to a number: "people". */
export const peopleUnit = (count) => t("peopleUnit", { count });

/** "9–15"; "" if there is no prediction interval. */
export function formatInterval(low, high) {
  if (!isKnown(low) || !isKnown(high)) return "";
  const [from, to] = [Math.max(0, Math.round(low)), Math.round(high)];
  return from === to ? formatNumber(from) : `${formatNumber(from)}–${formatNumber(to)}`;
}

/** CO2 without its unit [ppm]. */
export const formatPpm = (value) => (isKnown(value) ? formatNumber(Math.round(value), { useGrouping: false }) : "–");

export const formatPercent = (value) => (
  isKnown(value) ? formatNumber(value, { style: "percent", maximumFractionDigits: 0 }) : "–");

/** Short name of a quality flag. */
export const qualityName = (quality) => ({
  ok: t("quality.ok"), starting: t("quality.starting"), stale: t("quality.stale"), suspect: t("quality.suspect"),
  untrained: t("quality.untrained"),
}[quality] ?? t("quality.none"));

/** Explanation of a quality flag. */
export const qualityText = (quality) => ({
  ok: t("quality.ok.text"), starting: t("quality.starting.text"), stale: t("quality.stale.text"),
  suspect: t("quality.suspect.text"), untrained: t("quality.untrained.text"),
}[quality] ?? t("quality.none.text"));

/** Why the occupancy is unknown: the service's reason, else one that follows from the quality. */
export function formatReason(state) {
  if (!state) return t("reason.noReading");
  const fallback = {
    stale: t("reason.offline"), suspect: t("reason.implausible"), untrained: t("reason.untrained"),
  }[state.quality] ?? t("reason.unknown");
  return (state.reason || fallback).replace(/\.$/, "");
}

/** Direction of the occupancy: 1, 0 or -1. */
export const trendOf = (state) => (isOccupancyKnown(state) ? state.trend ?? 0 : 0);

export const trendText = (state) => {
  if (!isOccupancyKnown(state)) return "";
  return { 1: t("trend.rising"), "-1": t("trend.falling") }[trendOf(state)] ?? t("trend.steady");
};

export const TREND_ICONS = { 1: "up", 0: "", "-1": "down" };

/** "just now", "4 min ago", "3 h ago", "2 days ago", from an age [ms]. */
export function formatAge(age) {
  const minutes = Math.floor(age / 60000);
  if (minutes < 1) return t("age.now");
  if (minutes < 60) return t("age.minutes", { count: minutes });
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return t("age.hours", { count: hours });
  return t("age.days", { count: Math.floor(hours / 24) });
}

/** "58 kB" */
export function formatSize(bytes) {
  if (bytes < 1e6) return `${formatNumber(Math.max(1, Math.round(bytes / 1e3)))} kB`;
  return `${formatNumber(bytes / 1e6, { minimumFractionDigits: 1, maximumFractionDigits: 1 })} MB`;
}
