//===- tools/report/Style.h - Looks and manners of the page -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Neither text may hold `<` or `&`: the page is read by XML parsers too.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_REPORT_STYLE_H
#define EIDER_TOOLS_REPORT_STYLE_H

namespace eider::report {

constexpr const char *styleText = R"css(
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1c2024; --soft: #5b6570; --line: #d8dde3; --panel: #f5f7f9;
  --ours: #1461c9; --tuned: #0a7a45; --lost: #c02626; --schedule: #8a93a0; --memcpy: #1c2024;
  --peer0: #b35900; --peer1: #8739b0; --peer2: #a3195b; --peer3: #00757d; --peer4: #6b6500; --peer5: #77503f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --text: #e6e9ec; --soft: #a2acb7; --line: #343b43; --panel: #1d2226;
    --ours: #6aa9ff; --tuned: #4fd08d; --lost: #ff8a80; --schedule: #7d8793; --memcpy: #e6e9ec;
    --peer0: #ffab57; --peer1: #cf9bf0; --peer2: #ff8fc0; --peer3: #4fd3dc; --peer4: #d9d05a; --peer5: #d3a791;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 16px; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: .3em 0; } h2 { font-size: 1.25rem; margin: 2em 0 .5em; }
h3 { font-size: 1.05rem; margin: 1.2em 0 .4em; } h4 { font-size: .95rem; font-weight: 400; margin: 0; }
p { max-width: 75ch; margin: .5em 0; } a { color: var(--ours); }
.lost { color: var(--lost); font-weight: 600; } .won { color: var(--tuned); } .soft, figcaption { color: var(--soft); }
.machines { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); gap: 10px; }
.machines div { background: var(--panel); border-radius: 8px; padding: 10px 14px; font-size: .9rem; }
.machines ul { list-style: none; margin: 4px 0 0; padding: 0; } .machines b { display: block; font-size: 1rem; }
.verdicts { list-style: none; padding: 0; margin: 1em 0; display: grid; gap: 10px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 260px), 1fr)); }
.verdicts li { border-left: 4px solid var(--line); padding: 2px 0 2px 12px; }
.verdicts li.lost { border-color: var(--lost); font-weight: 400; color: inherit; }
.verdicts b { font-size: 1.3rem; display: block; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 0; margin: .5em 0; }
.key { width: 16px; height: 16px; margin-right: 6px; vertical-align: -2px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 18px; }
figure { margin: 0; min-width: 0; max-width: 620px; } figcaption { font-size: .85rem; }
.chart { width: 100%; height: auto; display: block; background: var(--panel); border-radius: 8px; }
.chart text { font-size: 13px; fill: var(--soft); }
.grid { stroke: var(--line); stroke-width: 1; }
.memcpy { stroke: var(--memcpy); stroke-width: 1.5; stroke-dasharray: 5 4; fill: none; }
.chosen { stroke: var(--ours); stroke-width: 1.5; fill: none; }
.hit { fill: transparent; } .mark { stroke: var(--panel); stroke-width: 1; }
.heuristic { fill: var(--ours); } .tuned { fill: var(--tuned); } .schedule { fill: var(--schedule); }
.peer0 { fill: var(--peer0); } .peer1 { fill: var(--peer1); } .peer2 { fill: var(--peer2); }
.peer3 { fill: var(--peer3); } .peer4 { fill: var(--peer4); } .peer5 { fill: var(--peer5); }
.dot { outline: none; } .dot:hover .mark, .dot:focus .mark { stroke: var(--text); stroke-width: 2.5; }
.dot:focus .hit { stroke: var(--text); stroke-width: 1.5; }
.skip { position: absolute; left: -999em; } .skip:focus { position: static; }
#tip { position: fixed; z-index: 2; left: 12px; right: 12px; bottom: 12px; margin: 0 auto; max-width: 640px; padding: 10px 14px;
  background: var(--text); color: var(--page); border-radius: 8px; font-size: .9rem; pointer-events: none; }
#tip[hidden] { display: none; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 6px 8px; border-bottom: 1px solid var(--line); font-weight: 400; }
thead th { position: sticky; top: 0; background: var(--page); white-space: nowrap; }
thead button { all: unset; cursor: pointer; font-weight: 600; } thead button:focus-visible { outline: 2px solid var(--ours); }
th[aria-sort=ascending] button::after { content: " ↑"; } th[aria-sort=descending] button::after { content: " ↓"; }
.cases th[scope=row] { min-width: 230px; } .shape { display: block; color: var(--soft); }
tr:target { background: var(--panel); outline: 2px solid var(--ours); }
.bar { display: block; height: 4px; margin-top: 4px; width: 110px; max-width: 100%; background: linear-gradient(90deg, var(--line) 50%, transparent 50%); }
.bar i { display: block; height: 4px; background: var(--soft); } .bar.lost i { background: var(--lost); }
.chips { list-style: none; padding: 0; margin: 2px 0 10px; display: flex; flex-wrap: wrap; gap: 6px; font-size: .85rem; }
.chips li { background: var(--panel); border-radius: 6px; padding: 2px 8px; }
.chips li.lost { outline: 1px solid var(--lost); }
.wide { overflow-x: auto; } .wide td { min-width: 60px; overflow-wrap: normal; } .wide td:nth-child(2) { min-width: 240px; }
summary { cursor: pointer; padding: 6px 0; }
@media (max-width: 760px) {
  .cases thead { position: absolute; left: -999em; }
  .cases, .cases tbody { display: block; }
  .cases tr { display: grid; grid-template-columns: repeat(3, 1fr); gap: 2px 14px; padding: 10px 0; border-bottom: 1px solid var(--line); }
  .cases th, .cases td { border: 0; padding: 2px 0; } .cases th[scope=row] { grid-column: 1 / -1; min-width: 0; }
  .cases td.none { display: none; } .cases td[data-label="best peer"] { grid-column: span 2; }
  .cases td::before { content: attr(data-label); display: block; color: var(--soft); font-size: .8rem; }
}
)css";

/// The tip of the dot that has the pointer or the focus, and tables sorted by a column.
constexpr const char *scriptText = R"js(
const tip = document.getElementById('tip');
const show = event => {
  const dot = event.target.closest ? event.target.closest('.dot') : null;
  tip.hidden = !dot;
  if (dot) tip.textContent = dot.getAttribute('aria-label');
};
for (const kind of ['mouseover', 'focusin', 'touchstart'])
  document.addEventListener(kind, show, {passive: true});
document.addEventListener('keydown', event => { if (event.key === 'Escape') tip.hidden = true; });
for (const dot of document.querySelectorAll('.dot title')) dot.remove();
const order = (row, column) => Number(row.children[column].dataset.order);
for (const button of document.querySelectorAll('.sortable thead button'))
  button.addEventListener('click', () => {
    const head = button.parentElement, column = [...head.parentElement.children].indexOf(head);
    const down = head.getAttribute('aria-sort') !== 'descending';
    for (const other of head.parentElement.children) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const body = head.closest('table').tBodies[0];
    const rows = [...body.rows].sort((a, b) => order(a, column) - order(b, column));
    body.append(...(down ? rows.reverse() : rows));
  });
)js";

} // namespace eider::report

#endif // EIDER_TOOLS_REPORT_STYLE_H
