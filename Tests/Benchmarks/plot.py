"""Draws how the rows of the benchmarks went from commit to commit: Tests/Benchmarks/plot.py > history.svg

A chart for each row: the ratio of the peer's processor time to ours, more is better. The dashed line is the must. The name of a commit
and its figures come up when the pointer is over a point. Rows that are judged by a figure of their own are left out.
"""

import argparse
import sys
from collections import defaultdict
from xml.sax.saxutils import escape

import history

COLUMNS = 3
WIDTH, HEIGHT = 340, 180
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 28, 24
STYLE = """text { font: 11px sans-serif; fill: #333 } .title { font-weight: bold } .axis { stroke: #bbb } .must { stroke: #c33;
stroke-dasharray: 4 3 } .line { stroke: #268; fill: none } circle { fill: #268 }"""


def chart(workload, runs, x, y):
    """The elements of one chart, whose upper left corner is at x and y."""
    ratios, must = [float(run["ratio"]) for run in runs], float(runs[-1]["must"])
    top = max(ratios + [must]) * 1.15
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def across(number):
        return x + LEFT + (width / 2 if len(runs) == 1 else width * number / (len(runs) - 1))

    def down(ratio):
        return y + TOP + height * (1 - ratio / top)

    points = [(across(number), down(ratio)) for number, ratio in enumerate(ratios)]
    yield f'<text class="title" x="{x + LEFT}" y="{y + 18}">{escape(workload)} beside {escape(runs[-1]["against"])}</text>'
    for value in (0, must, ratios[-1]):
        yield f'<text x="{x + LEFT - 6}" y="{down(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>'
    yield f'<line class="axis" x1="{x + LEFT}" x2="{x + LEFT + width}" y1="{down(0):.1f}" y2="{down(0):.1f}"/>'
    yield f'<line class="must" x1="{x + LEFT}" x2="{x + LEFT + width}" y1="{down(must):.1f}" y2="{down(must):.1f}"/>'
    yield f'<polyline class="line" points="{" ".join(f"{across:.1f},{down:.1f}" for across, down in points)}"/>'
    for run, (left, middle) in zip(runs, points):
        about = (f'{run["commit"]}, {run["date"]}: {run["ratio"]}; µs of server and client '
                 f'{run["ours_server_cpu_us"]} + {run["ours_client_cpu_us"]}, peer {run["peer_server_cpu_us"]} + {run["peer_client_cpu_us"]}')
        yield f'<circle cx="{left:.1f}" cy="{middle:.1f}" r="3"><title>{escape(about)}</title></circle>'
    for number in sorted({0, len(runs) - 1}):
        anchor = "middle" if len(runs) == 1 else "start" if number == 0 else "end"
        yield (f'<text x="{across(number):.1f}" y="{y + HEIGHT - 8}" text-anchor="{anchor}">'
               f'{escape(runs[number]["commit"])}</text>')


def picture(lines):
    """An SVG document, from lines of the history."""
    runs = defaultdict(list)
    for line in lines:
        if line["ratio"] and line["must"]:
            runs[line["workload"]].append(line)
    rows = -(-len(runs) // COLUMNS)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{COLUMNS * WIDTH}" height="{rows * HEIGHT}"><style>{STYLE}</style>'
    for number, (workload, of_row) in enumerate(runs.items()):
        yield from chart(workload, of_row, number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT)
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(prog="Tests/Benchmarks/plot.py", description=__doc__)
    parser.add_argument("file", nargs="?", default=history.FILE, help="a history (default: the one beside this program)")
    file = parser.parse_args().file
    try:
        lines = history.read(file)
    except OSError as failure:
        sys.exit(f"plot: {failure}; Scripts/bench --record begins a history")
    print("\n".join(picture(lines)))


if __name__ == "__main__":
    main()
