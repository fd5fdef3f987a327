"""Draws what pipelines.py printed: python3 picture.py < pipelines.txt > pipelines.svg"""
import math
import sys
from html import escape

COLOURS = {"naive": "#9aa0a6", "tiled": "#5f6b7a", "fused": "#e0a030", "four bits": "#1a73a8", "offline": "#c96f4a"}
LEFT, WIDE, HIGH, GAP = 150, 520, 13, 12


def rows(lines):
    """size, rows, way, microseconds, megabytes held."""
    for line in lines:
        if line.startswith("#") or line.startswith("size") or not line.strip():
            continue
        size, rest = line[:11].strip(), line[11:].split()
        count, way = int(rest[0]), " ".join(rest[1:-6])
        _, _, weights, between, took, _ = map(float, rest[-6:])
        yield size, count, way, took, weights + between


def main():
    lines = sys.stdin.read().splitlines()
    about = lines[0].lstrip("# ") if lines and lines[0].startswith("#") else ""
    groups = {}
    for size, count, way, took, held in rows(lines):
        groups.setdefault((size, count), []).append((way, took, held))
    if not groups:
        sys.exit("picture.py: no table of pipelines.py on standard input")
    all_ = [took for group in groups.values() for _, took, _ in group]
    low, high = math.log10(min(all_)) - 0.15, math.log10(max(all_))
    place = lambda took: (math.log10(took) - low) / (high - low) * WIDE
    body, y = [], 58
    for tick in range(math.ceil(low), math.floor(high) + 1):
        x = LEFT + place(10 ** tick)
        body.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="50" y2="BOTTOM" stroke="#ddd"/>'
                    f'<text x="{x:.0f}" y="44" text-anchor="middle">{10 ** tick:g} µs</text>')
    for (size, count), group in groups.items():
        body.append(f'<text x="8" y="{y + 10}" font-weight="bold">{escape(size)}</text>'
                    f'<text x="8" y="{y + 25}">{count} row{"s" if count > 1 else ""}</text>')
        for way, took, held in group:
            x = place(took)
            body.append(f'<rect x="{LEFT}" y="{y}" width="{x:.1f}" height="{HIGH - 2}" fill="{COLOURS[way]}"/>'
                        f'<text x="{LEFT - 5}" y="{y + 9}" text-anchor="end">{escape(way)}</text>'
                        f'<text x="{LEFT + x + 4:.1f}" y="{y + 9}">{took:.1f} µs, holds {held:.3g} MB</text>')
            y += HIGH
        y += GAP
    width = LEFT + WIDE + 170
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}" font-family="sans-serif" font-size="10">'
          f'<rect width="100%" height="100%" fill="white"/>'
          f'<text x="8" y="20" font-size="13">From x to attention: time (logarithmic) and memory of five ways, {escape(about)}</text>'
          + "".join(body).replace("BOTTOM", str(y - GAP)) + "</svg>")


main()
