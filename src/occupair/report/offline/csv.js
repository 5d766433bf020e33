// Tables as CSV, for spreadsheet programs.

/** A table as CSV; a number is a string that looks like one. */
function asCsv(names, rows) {
  const safe = (text) => (/^([\t\r\n]|\s*[=+\-@])/.test(text) && !/^-?[\d.]+(e-?\d+)?$/.test(text) ? `'${text}` : text);  // not a formula
  const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [names, ...rows].map((row) => row.map((text) => quote(safe(text))).join(","));
  return "\ufeff" + lines.join("\r\n") + "\r\n";
}

function download(name, text) {
  const file = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  el("a", { href: file, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(file), 10_000);
}
