// Numbers as text; null is not known.

const DASH = "–";
const NBSP = "\u00a0";
const MINUS = "\u2212";

const grouped = new Intl.NumberFormat("en-GB");
const formatCount = (value) => (value === null ? DASH : grouped.format(value));
const formatFixed = (digits) => (value) => {
  if (value === null) return DASH;
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && /[1-9]/.test(text) ? MINUS + text : text;
};
const formatOne = formatFixed(1);
const formatTwo = formatFixed(2);
const formatPercent = (value) => (value === null ? DASH : formatFixed(0)(100 * value) + NBSP + "%");
const formatUpTo = (digits) => (value) => (value === null ? DASH : grouped.format(Number(value.toFixed(digits))));
