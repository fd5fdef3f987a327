"use strict";
// Every row of the page becomes a row of manual.csv, if it has points. Nothing leaves this page but that file.
const rows = () => [...document.querySelectorAll("[data-student]")];
const guarded = text => {
  const harmless = part => part.trim() === "" || /^\s*[\p{L}\d(<\[&#]/u.test(part);
  return text.replace(/\s+/g, " ").trim().split(";").map(part => harmless(part) ? part : "'" + part).join(";"); // no formula
};
const quoted = cell => /[",]/.test(cell) ? '"' + cell.replaceAll('"', '""') + '"' : cell;
const read = row => {
  const points = row.querySelector("input").value, comment = row.querySelector("textarea").value;
  const kept = points === row.dataset.points && comment === row.dataset.comment;
  return { points, comment, kept };
};
function table() {
  const by = document.getElementById("by").value;
  let text = "student,item,points,comment,by\n";
  for (const row of rows()) {
    const { points, comment, kept } = read(row);
    if (points === "") continue;
    const cells = [row.dataset.student, row.dataset.item, points, guarded(comment), guarded(kept ? row.dataset.by : by)];
    text += cells.map(quoted).join(",") + "\n";
  }
  return text;
}
function count() {
  const open = rows().filter(row => read(row).points === "").length;
  const fresh = rows().filter(row => !read(row).kept).length;
  document.getElementById("count").textContent = `${open} not marked; ${fresh} changed on this page`;
  return fresh;
}
let saved = true;
document.addEventListener("input", () => { saved = false; count(); });
addEventListener("beforeunload", event => { if (!saved && count()) event.preventDefault(); });
document.getElementById("save").addEventListener("click", () => {
  const wrong = rows().find(row => !row.querySelector("input").checkValidity());
  if (wrong) {
    wrong.querySelector("input").reportValidity();
    return;
  }
  if (count() && document.getElementById("by").value.trim() === "") {
    document.getElementById("by").focus();
    document.getElementById("count").textContent = "Write your name first: manual.csv says who gave each mark.";
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([table()], { type: "text/csv" }));
  link.download = "manual.csv";
  link.click();
  saved = true;
});
count();
