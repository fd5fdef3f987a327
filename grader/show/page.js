// Tabs, folded lines, the theme, and n and p for the next and the previous marked line. All of the
// page is readable without.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const asked = new URLSearchParams(location.search).get("theme");
  if (asked) root.dataset.theme = asked;
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  document.getElementById("theme").onclick = () => { root.dataset.theme = dark() ? "light" : "dark"; };

  const tabs = [...document.querySelectorAll("[role=tab]")];
  const pick = (tab, focus) => {
    for (const t of tabs) {
      const on = t === tab;
      t.setAttribute("aria-selected", on);
      t.tabIndex = on ? 0 : -1;
      document.getElementById(t.getAttribute("aria-controls")).hidden = !on;
    }
    if (focus) tab.focus();
  };
  tabs.forEach((t, i) => {
    t.onclick = () => pick(t);
    t.onkeydown = e => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      pick(tabs[(to + tabs.length) % tabs.length], true);
    };
  });
  if (tabs.length) pick(tabs[0]);

  for (const b of document.querySelectorAll("button.fold")) {
    b.onclick = () => {
      const body = document.getElementById(b.getAttribute("aria-controls"));
      body.hidden = !body.hidden;
      b.setAttribute("aria-expanded", !body.hidden);
    };
  }
  const time = document.getElementById("time");
  if (time) {
    const tiles = [...document.querySelectorAll("#tiles g")];
    time.oninput = () => {
      document.getElementById("now").textContent = time.value;
      tiles.forEach((t, i) => { t.style.visibility = i < time.value ? "visible" : "hidden"; });
    };
    time.oninput();
  }
  document.onkeydown = e => {
    if (e.ctrlKey || e.metaKey || e.altKey || !"np".includes(e.key) || e.key.length !== 1) return;
    const marks = [...document.querySelectorAll("section.kernel:not([hidden]) tr.mark")];
    if (!marks.length) return;
    const at = marks.indexOf(document.activeElement);
    const to = e.key === "n" ? at + 1 : at < 0 ? marks.length - 1 : at - 1;
    const next = marks[(to + marks.length) % marks.length];
    next.focus();
    next.scrollIntoView({ block: "center" });
  };
})();
