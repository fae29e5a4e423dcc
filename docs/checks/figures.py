"""Draws the pictures of docs/evidence/performance.md from the tables of performance-measured.md.

`figures.py` writes them to docs/images; `make check-docs` compares them with the tables.
"""

import re
from dataclasses import dataclass
from html import escape
from math import log10
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "docs/evidence/performance-measured.md"
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
OURS, OTHERS = "#3b9cff", "#5f7386"
LABEL_WIDTH, BAR_WIDTH, ROW_HEIGHT = 270, 330, 28


@dataclass(frozen=True)
class Bar:
    """A row of a picture, and where its value stands: section, beginning of the row or a pattern, column."""

    label: str
    section: str
    row: str
    column: int = 1
    # Numbers of the cell to take: one, or the ends of a range.
    numbers: tuple[int, ...] = (0,)
    is_ours: bool = True


@dataclass(frozen=True)
class Figure:
    """A picture: its file, its title, its unit, and what it compares."""

    name: str
    title: str
    unit: str
    bars: tuple[Bar, ...]
    is_logarithmic: bool = False


def other(label: str, section: str, row: str, column: int = 1, numbers: tuple[int, ...] = (0,)) -> Bar:
    return Bar(label, section, row, column, numbers, is_ours=False)


WIRE, PROBES, SERVER, TLS = "Native batch", "Probes", "The WebSocket server, beside others", "TLS"
PAGE, SEARCH, RULES, ARCHIVE = "The page", "Log search", "Rules", "The archive"

FIGURES = (
    Figure(
        "bytes",
        "Bytes of a sample of seven counters and a time",
        "bytes",
        (
            other("EISA packet of 2012", WIRE, r"/(\d+) bytes as an EISA packet"),
            other("in memory", WIRE, r"/(\d+) bytes in memory"),
            Bar("native batch of 1", WIRE, "bytes a sample", 1),
            Bar("native batch of 64", WIRE, "bytes a sample", 2),
            Bar("native batch of 1,024", WIRE, "bytes a sample", 3),
        ),
    ),
    Figure(
        "flush",
        "Time of the watched thread for a sample",
        "ns",
        (
            other("the clock alone", PROBES, "the clock alone"),
            other("rtrb, a ring of structs", PROBES, "rtrb"),
            Bar("flush, ring full", PROBES, "flush, ring full"),
            Bar("flush, drop newest", PROBES, "flush, drop newest"),
            Bar("flush, on change within its deadbands", PROBES, "flush, on change"),
            other("crossbeam channel, bounded", PROBES, "crossbeam"),
            other("std channel, bounded", PROBES, "std channel", 1, (0, 1)),
            other("tracing event, formatted", PROBES, "`tracing` event", 1, (0, 1)),
        ),
        is_logarithmic=True,
    ),
    Figure(
        "fan-out",
        "Deliveries of OASIS to those of others, for the same processor time",
        "times",
        tuple(
            Bar(f"to {name}, burst {burst}", SERVER, row, column)
            for column, burst in ((1, 1), (2, 16))
            for name, row in (
                ("a bare event loop", "DAC and doors to the bare loop"),
                ("tokio-tungstenite", "to tokio-tungstenite"),
                ("axum", "DAC and doors to axum"),
                ("ws of Node.js", "to `ws`"),
            )
        ),
    ),
    Figure(
        "age",
        "Age of samples at readers, 99th percentile",
        "ms",
        (
            Bar("4 Hz, 1 reader", SERVER, "4 Hz, periodic probe, 1 subscriber", 1, (1, 2)),
            Bar("4 Hz, 100 readers", SERVER, "4 Hz, 100 subscribers"),
            Bar("4 Hz, 1,000 readers", SERVER, "4 Hz, 1,000 subscribers", 1, (0, 1)),
            Bar("1 kHz, 1,000 readers", SERVER, "its age p50, p99", 1, (1,)),
        ),
    ),
    Figure(
        "memory",
        "Memory of an idle WebSocket in user space",
        "bytes",
        (
            Bar("OASIS, protocol of 2012", SERVER, "memory of an idle subscriber", 1, (0, 1)),
            Bar("OASIS, native", SERVER, "memory of an idle subscriber", 1, (2,)),
            other("ws of Node.js", SERVER, "of axum, tokio-tungstenite", 1, (2,)),
            other("tokio-tungstenite", SERVER, "of axum, tokio-tungstenite", 1, (1,)),
            other("axum", SERVER, "of axum, tokio-tungstenite", 1, (0,)),
        ),
    ),
    Figure(
        "tls",
        "Deliveries with TLS to those without, for the same processor time",
        "times",
        (
            Bar("OASIS, burst 1", TLS, "DAC and doors with TLS", 1),
            Bar("OASIS, burst 16", TLS, "DAC and doors with TLS", 2),
            Bar("OASIS, burst 64", TLS, "DAC and doors with TLS", 3),
            other("a bare event loop, burst 1", TLS, "the bare loop with TLS", 1),
            other("a bare event loop, burst 16", TLS, "the bare loop with TLS", 2),
            other("a bare event loop, burst 64", TLS, "the bare loop with TLS", 3),
        ),
    ),
    Figure(
        "page",
        "Frames a second of the page, without a graphics card",
        "frames/s",
        (
            Bar("one chart, 3,000,000 samples/s", PAGE, "one chart of seven metrics, 3,000,000", 2),
            Bar("one chart, 1,000,000 samples/s", PAGE, "one chart, 1,000,000 samples a second from a real node, quiet", 2),
            Bar("32 charts, two runs", PAGE, "32 charts", 2, (1, 0)),
            Bar("fleet of 10,000 instances, scrolled", PAGE, "frames a second while it scrolls", 2),
            Bar("a week at 1 kHz, scrubbed", PAGE, "a week of a 1 kHz probe", 2),
            other("an idle page", PAGE, "an idle page", 2),
        ),
    ),
    Figure(
        "archive",
        "Rows of the archive and of SQLite",
        "millions a second",
        (
            Bar("stored by the archive", ARCHIVE, "rows a second to SQLite inserts", 1, (1,)),
            other("SQLite, inserts", ARCHIVE, "rows a second to SQLite inserts", 1, (2,)),
            Bar("SQL: archive, two of seven metrics", ARCHIVE, "1,000 | two of seven", 2),
            other("SQL: SQLite, two of seven metrics", ARCHIVE, "1,000 | two of seven", 3),
            Bar("SQL: archive, no metric", ARCHIVE, "1,000 | none", 2),
            other("SQL: SQLite, no metric", ARCHIVE, "1,000 | none", 3),
        ),
    ),
    Figure(
        "search",
        "Search in 10,000,000 log records, the first 100 results",
        "ms",
        (
            Bar("everything", SEARCH, "everything"),
            Bar("a field that one record has", SEARCH, "a field with a value"),
            Bar("part of a number that one record has", SEARCH, "part of a number"),
            Bar("a word of three records", SEARCH, "a word of three records"),
            Bar("an absent word", SEARCH, "an absent word |"),
            Bar("an absent word of three characters", SEARCH, "an absent word of three characters"),
        ),
    ),
    Figure(
        "rules",
        "Samples that threshold rules evaluate",
        "millions a second",
        (
            Bar("one rule, 1 thread", RULES, "one threshold rule", 1),
            Bar("one rule, 2 threads", RULES, "one threshold rule", 2),
            Bar("20 rules, 1 thread", RULES, "20 threshold rules", 1),
            Bar("20 rules, 2 threads", RULES, "20 threshold rules", 2),
        ),
    ),
)


def values(tables: str, bar: Bar) -> list[str]:
    """The numbers of a bar as its table has them."""
    _, _, rest = tables.partition(f"\n## {bar.section}\n")
    section = rest.split("\n## ")[0]
    if bar.row.startswith("/"):
        found = re.search(bar.row[1:], section)
        assert found, f"{bar.section}: nothing says {bar.row}"
        return [found[1]]
    rows = [row for row in section.splitlines() if row.startswith(f"| {bar.row}")]
    assert len(rows) == 1, f"{bar.section}: {len(rows)} rows begin with {bar.row!r}"
    numbers = re.findall(NUMBER, rows[0].strip("|").split("|")[bar.column])
    return [numbers[number] for number in bar.numbers]


def drawn(tables: str, figure: Figure) -> str:
    """The picture as SVG."""
    rows = [(bar, values(tables, bar)) for bar in figure.bars]
    parsed = [[float(text.replace(",", "")) for text in texts] for _, texts in rows]
    largest = max(map(max, parsed))

    def width(value: float) -> float:
        share = log10(max(value / 10, 1)) / log10(largest / 10) if figure.is_logarithmic else value / largest
        return max(round(share * BAR_WIDTH, 1), 2)

    height = 62 + ROW_HEIGHT * len(rows)
    described = "; ".join(f"{bar.label}: {' to '.join(texts)} {figure.unit}" for bar, texts in rows)
    scale = ", logarithmic from 10" if figure.is_logarithmic else ""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" width="760" height="{height}" '
        'font-family="Segoe UI, Helvetica, Arial, DejaVu Sans, sans-serif" role="img" aria-labelledby="title desc" font-size="13">',
        f'  <title id="title">{escape(figure.title)}</title>',
        f'  <desc id="desc">{escape(described)}</desc>',
        "  <!-- Drawn by docs/checks/figures.py from docs/evidence/performance-measured.md. -->",
        f'  <rect width="760" height="{height}" rx="8" fill="#0f1720"/>',
        f'  <text x="20" y="30" fill="#e6edf3" font-weight="600" font-size="15">{escape(figure.title)} ({figure.unit}{scale})</text>',
    ]
    for number, ((bar, texts), ends) in enumerate(zip(rows, parsed, strict=True)):
        top = 48 + ROW_HEIGHT * number
        color = OURS if bar.is_ours else OTHERS
        lines.append(f'  <text x="{LABEL_WIDTH}" y="{top + 14}" fill="#e6edf3" text-anchor="end">{escape(bar.label)}</text>')
        lines += [
            f'  <rect x="{LABEL_WIDTH + 10}" y="{top}" width="{width(end)}" height="18" rx="2" fill="{color}"{shade}/>'
            for end, shade in zip(sorted(ends, reverse=True), [' fill-opacity="0.5"', ""][-len(ends) :], strict=True)
        ]
        at = LABEL_WIDTH + 18 + width(max(ends))
        lines.append(f'  <text x="{at}" y="{top + 14}" fill="#9fb0c0">{" to ".join(texts)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def pictures() -> dict[Path, str]:
    """Each file with its picture."""
    tables = TABLES.read_text()
    return {ROOT / f"docs/images/figure-{figure.name}.svg": drawn(tables, figure) for figure in FIGURES}


if __name__ == "__main__":
    for file, picture in pictures().items():
        file.write_text(picture)
