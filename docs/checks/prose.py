"""Checks every Markdown file of the repository (`make check-docs`).

Links and anchors lead somewhere. Lines have 120 columns at most, cells of tables 20 words. Blocks of TOML and JSON
parse. Guides and reference pages begin with a sentence, guides have a picture, and the index and the book list each
page. Pictures of figures have the values of their tables. Each message that troubleshooting.md quotes stands in the
sources, and concurrency.md lists each lock and each file that starts a thread. Modules that pages about design name
exist. Pages and program have the same routes and environment variables, and a key of the configuration that a page
names exists, with the default that the page says. Commands and flags are checked by `cargo test -p oasis
documented_commands`, the defaults of oasis.toml by `cargo test -p oasis config`.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import figures

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 120
WORDS = 20
# Output of reports and of the compiler is not wrapped.
MEASURED = ["fanout", "tls-measured", "archive-measured", "probes-measured", "overhead"]
UNWRAPPED = {f"docs/evidence/{report}.md" for report in MEASURED}
# Owned by others: only links are checked.
LINKS_ONLY = re.compile(r"^CONTRIBUTING\.md$|^(?!docs/|[A-Z]+\.md$)")
# Product code: no tests, no benches.
SOURCES = [
    path
    for path in sorted((ROOT / "crates").rglob("*.rs"))
    if not {"tests", "benches", "examples"} & set(path.relative_to(ROOT).parts)
    and not re.search(r"(^|_)(tests|models)\.rs$", path.name)
]

# Endings of files that read environment variables.
CODE = (".rs", ".py", ".c", ".h", ".hpp", ".cpp", ".cmake", ".go", ".java", ".ts", ".tsx", ".sh", ".toml", "Makefile", "postinst", "postrm")
# Routes of other programs: Alertmanager's API.
FOREIGN_ROUTES = {"/api/v2/alerts"}
# Endings of files whose names begin like a section.
FILE_ENDINGS = {"rs", "go", "toml", "lock", "pem", "key", "yml"}
# Fields of answers and settings of editors, in objects named like a section.
FOREIGN_KEYS = {"archive.stored", "archive.stored_offset", "channel.refused", "doors.refused", "rules.arguments"}


def pages() -> list[str]:
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, text=True)
    return [name for name in listed.splitlines() if (ROOT / name).exists()]


def without_blocks(text: str) -> str:
    """The text with its fenced blocks emptied, lines kept."""
    return re.sub(r"^( *)```.*?^\1```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)


def blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, language and contents of each fenced block."""
    for match in re.finditer(r"^( *)```(\w*)\n(.*?)^\1```$", text, re.DOTALL | re.MULTILINE):
        yield text[: match.start()].count("\n") + 1, match[2], match[3]


def anchors(text: str) -> set[str]:
    """The anchors that a code host gives the headings of a page."""
    found: Counter[str] = Counter()
    names = set()
    for heading in re.findall(r"^#+ (.*)", without_blocks(text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        names.add(f"{name}-{found[name]}" if found[name] else name)
        found[name] += 1
    return names


def check_links(name: str, text: str) -> Iterator[str]:
    plain = without_blocks(text)
    for match in re.finditer(r"\]\(([^)\s]+)\)", plain):
        line = plain[: match.start()].count("\n") + 1
        path, _, anchor = match[1].partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        target = ((ROOT / name).parent / path).resolve() if path else ROOT / name
        if not target.exists():
            yield f"{name}:{line}: {match[1]} leads nowhere"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
            yield f"{name}:{line}: {match[1]} has no such heading"


def check_form(name: str, text: str) -> Iterator[str]:
    is_generated = False
    for line, row in enumerate(without_blocks(text).splitlines(), 1):
        # The program's own help is the source of what lies between these marks.
        is_generated = (is_generated or row.startswith("<!-- generated")) and not row.startswith("<!-- end")
        if is_generated:
            continue
        if row.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", row.strip().strip("|")):
                if len(cell.split()) > WORDS:
                    yield f"{name}:{line}: a cell of {len(cell.split())} words: {cell.strip()[:50]}…"
        elif len(row) > COLUMNS and not re.match(r"!?\[[^\]]*\]\([^)]*\)$", row):
            yield f"{name}:{line}: {len(row)} columns"


def check_blocks(name: str, text: str) -> Iterator[str]:
    for line, language, contents in blocks(text):
        try:
            if language == "toml":
                tomllib.loads(contents)
            elif language == "json" and "…" not in contents:
                try:
                    json.loads(contents)
                except json.JSONDecodeError:
                    # An object a line, or members without the braces around them.
                    for part in re.split(r"\n(?=\{)", contents.strip()):
                        json.loads(part if part.startswith("{") else "{" + part.rstrip(",") + "}")
        except ValueError as error:
            yield f"{name}:{line}: {language}: {error}"


def check_pictures() -> Iterator[str]:
    """Each guide shows a picture, and a page shows or links to each picture of docs/images."""
    linked = set()
    for name in pages():
        plain = without_blocks((ROOT / name).read_text())
        images = re.findall(r"(!?)\[[^\]]+\]\((?:[^)\s]*/)?images/([^)\s]+)\)", plain)
        linked.update(image for _, image in images)
        if name.startswith("docs/guides/") and not any(shown for shown, _ in images):
            yield f"{name}: has no picture"
        if name.startswith(("docs/guides/", "docs/reference/")) and re.match(r"# .*\n+(?:```|\||!\[)", (ROOT / name).read_text()):
            yield f"{name}: the first screen does not say what one gets, and what one needs"
    for image in sorted((ROOT / "docs/images").iterdir()):
        if image.name not in linked:
            yield f"docs/images/{image.name}: no page shows it"


def check_index() -> Iterator[str]:
    """The index and the book list each page once or more."""
    for index in ("README.md", "SUMMARY.md"):
        links = re.findall(r"\]\(([^)#\s]+)", (ROOT / "docs" / index).read_text())
        for name in pages():
            page = name.removeprefix("docs/")
            is_decision = page.startswith("decisions/0") and index == "README.md"
            if name.startswith("docs/") and page not in (*links, "README.md", "SUMMARY.md") and not is_decision:
                yield f"docs/{index}: does not list {page}"


def check_figures() -> Iterator[str]:
    """The pictures of performance.md have the values of the tables."""
    for file, picture in figures.pictures().items():
        if not file.exists() or file.read_text() != picture:
            yield f"{file.relative_to(ROOT)} differs from the tables: python3 docs/checks/figures.py"


def product_code(path: Path) -> str:
    """Without what only tests compile, and without comments."""
    code = re.split(r"^#\[cfg\(test\)\]\nmod \w+ \{", path.read_text(), maxsplit=1, flags=re.MULTILINE)[0]
    return re.sub(r"^\s*//.*$", "", code, flags=re.MULTILINE)


def check_messages() -> Iterator[str]:
    """Headings of troubleshooting.md are messages; `…` stands for what varies."""
    # Continued lines of a literal are one line of the message.
    code = "\n".join(re.sub(r"\\\n\s*", "", path.read_text()) for path in SOURCES).replace('\\"', '"')
    page = (ROOT / "docs/troubleshooting.md").read_text()
    messages = re.findall(r"^### `(.*)`$", page, re.MULTILINE)
    if len(messages) < 20:
        yield f"docs/troubleshooting.md: {len(messages)} messages are too few"
    for message in messages:
        for part in filter(None, map(str.strip, message.split("…"))):
            if part not in code:
                yield f"docs/troubleshooting.md: nothing says `{part}` any more"


def check_locks() -> Iterator[str]:
    """Rows of concurrency.md begin with `file.rs:Symbol`."""
    page = (ROOT / "docs/concurrency.md").read_text()
    listed = Counter(re.findall(r"^\| `([\w/]+\.rs):[^`]+` \|", page, re.MULTILINE))
    declared: Counter[str] = Counter()
    starts_threads = set()
    for path in SOURCES:
        # mod.rs and lib.rs are too many to be told apart by name alone.
        name = path.name if path.name not in ("mod.rs", "lib.rs") else f"{path.relative_to(ROOT).parts[-2]}/{path.name}"
        name = name.replace("src/lib.rs", f"{path.relative_to(ROOT).parts[-3]}/lib.rs")
        for row in product_code(path).splitlines():
            if not row.lstrip().startswith("let "):
                declared[name] += len(re.findall(r"(?<!&)\b(?:Mutex|RwLock)<", row))
            elif re.search(r"\b(?:Mutex|RwLock)::new\(", row) and name not in page:
                yield f"{path.relative_to(ROOT)}: concurrency.md does not name it, and it has a lock"
            if re.search(r"\bthread::(?:Builder|spawn)", row):
                starts_threads.add(name)
    for name in sorted(declared | listed):
        # A local has no declaration, and may be listed all the same.
        if declared[name] > listed[name] or (listed[name] > declared[name] > 0):
            yield f"{name}: {declared[name]} locks, of which docs/concurrency.md lists {listed[name]}"
    for name in sorted(starts_threads):
        if f"`{name}" not in page:
            yield f"{name}: starts a thread that docs/concurrency.md does not list"


def check_modules() -> Iterator[str]:
    """A module or a folder of the page that the pages about design name exists."""
    crates = {path.parent.name.replace("-", "_"): path.parent / "src" for path in (ROOT / "crates").rglob("Cargo.toml")}
    for name in ("ARCHITECTURE.md", "docs/sample-path.md", "docs/concurrency.md"):
        text = (ROOT / name).read_text()
        for crate, rest in re.findall(r"`([a-z_]+)((?:::[a-z_]+)+)`", text):
            at = crates.get(crate, ROOT / "no crate")
            for module in rest.split("::")[1:]:
                at = at / module
            if not at.is_dir() and not at.with_suffix(".rs").exists():
                yield f"{name}: there is no module {crate}{rest}"
        for folder in re.findall(r"`(web/src/[\w/]+)`", text):
            if not (ROOT / folder).exists():
                yield f"{name}: there is no {folder}"


def check_routes() -> Iterator[str]:
    """A route that a page names exists, and http-api.md or a page that it leads to names each route of openapi.json."""

    def unnamed(path: str) -> str:
        return re.sub(r"\{[^}]*\}|<[^>]*>", "{}", path).rstrip(".")

    code = {unnamed(path) for source in SOURCES for path in re.findall(r'"(/[\w./{}-]+)"', source.read_text())}
    described = json.loads((ROOT / "docs/reference/openapi.json").read_text())["paths"]
    methods = ("GET", "PUT", "POST", "PATCH", "DELETE")
    routes = {(method, unnamed(path)) for path, of_path in described.items() for method in methods if method.lower() in of_path}
    documented = set()
    for name in (page for page in pages() if page.startswith("docs/")):
        for method, path in re.findall(r"`(?:(GET|PUT|POST|PATCH|DELETE) )?(/[a-z][\w./{}<>-]*)[^`*]*`", (ROOT / name).read_text()):
            named = {(method, unnamed(path))} if method else {(each, unnamed(path)) for each in methods}
            documented |= named
            is_route = method or path.startswith(("/api/", "/metrics"))
            if is_route and not named & routes and unnamed(path) not in code and path not in FOREIGN_ROUTES:
                yield f"{name}: the program has no route {method} {path}".replace("  ", " ")
    for method, path in sorted(routes - documented):
        yield f"docs/reference/http-api.md: {method} {path} of openapi.json is on no page"


def check_environment() -> Iterator[str]:
    """Each environment variable on a page is read by something here; environment.md lists each that the program reads."""
    text = "\n".join((ROOT / name).read_text() for name in pages() if name.startswith("docs/") or name == "README.md")
    documented = set(re.findall(r"\bOASIS_[A-Z][A-Z_]+\b", text))
    listed = (ROOT / "docs/reference/environment.md").read_text()
    tracked = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True).splitlines()
    used: set[str] = set()
    for name in tracked:
        if name.endswith(CODE) and (ROOT / name).is_file():
            used.update(re.findall(r"\bOASIS_[A-Z][A-Z_]+\b", (ROOT / name).read_text(errors="replace")))
    for variable in sorted(documented - used):
        yield f"docs: nothing reads {variable}"
    for path in SOURCES:
        for variable in re.findall(r'(?:env::var(?:_os)?\("|env = ")(OASIS_[A-Z_]+)"', product_code(path)):
            if f"`{variable}`" not in listed:
                yield f"{path.relative_to(ROOT)}: docs/reference/environment.md does not list {variable}"


def check_keys() -> Iterator[str]:
    """`section.key` on a page is a key of oasis.toml; after "by default" or "default" follows its default."""
    reference = (ROOT / "docs/reference/oasis.toml").read_text()
    sections = tomllib.loads(reference)
    # A key without a default is a comment.
    tables = {
        name: dict.fromkeys(re.findall(r"^# (\w+) = ", body, re.MULTILINE)) | sections[name]
        for name, body in re.findall(r"^\[(\w+)\]$(.*?)(?=^\[\w+\]$|\Z)", reference, re.MULTILINE | re.DOTALL)
    }
    for name in (page for page in pages() if page.startswith("docs/")):
        text = without_blocks((ROOT / name).read_text())
        for section, key, default in re.findall(r"`([a-z_]+)\.([a-z_]+)`(?: \(default `?([\w.]+)`?\))?", text):
            keys = tables.get(section)
            if keys is None or key in FILE_ENDINGS or f"{section}.{key}" in FOREIGN_KEYS:
                continue
            if key not in keys:
                yield f"{name}: docs/reference/oasis.toml has no key {section}.{key}"
            elif default and str(keys[key]).lower() != default.replace(",", ""):
                yield f"{name}: the default of {section}.{key} is {keys[key]}, not {default}"


def main() -> int:
    problems = [*check_pictures(), *check_index(), *check_figures(), *check_messages(), *check_locks(), *check_modules()]
    problems += [*check_routes(), *check_environment(), *check_keys()]
    for name in pages():
        text = (ROOT / name).read_text()
        problems += check_links(name, text)
        if not LINKS_ONLY.search(name):
            problems += check_blocks(name, text)
            if name not in UNWRAPPED:
                problems += check_form(name, text)
    print("\n".join(problems) or "the documentation is in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
