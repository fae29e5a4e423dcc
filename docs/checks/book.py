"""Completes and checks the book that mdBook built: `book.py REPOSITORY BOOK`.

Pages link to files outside docs/ (ARCHITECTURE.md, sources). Here those files are copied beside the book, at the same
relative places. Then every relative link and every anchor of the book must lead somewhere.
"""

import html
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r'(?<=\s)(href|src)="([^"]+)"')


def main() -> int:
    repository, book = (Path(argument).resolve() for argument in sys.argv[1:3])
    outside = book.parent
    broken = []
    pages = {page: page.read_text() for page in sorted(book.rglob("*.html"))}
    anchors = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    for page, text in pages.items():

        def lead(match: re.Match[str]) -> str:
            name, link = match.groups()
            path, _, anchor = html.unescape(link).partition("#")
            # 404.html is read at any depth; print.html repeats all pages in one.
            if re.match(r"[a-z]+:|/", path) or page.name in ("404.html", "print.html"):
                return match[0]
            target = (page.parent / unquote(path)).resolve() if path else page
            if not target.exists() and target.is_relative_to(outside):
                original = repository / target.relative_to(outside)
                # mdBook takes every link to a .md file for one of its pages.
                markdown = original.with_suffix(".md")
                if target.suffix == ".html" and markdown.exists():
                    original, target, link = markdown, target.with_suffix(".md"), link.replace(".html", ".md")
                if original.is_dir():
                    shutil.copytree(original, target, ignore=shutil.ignore_patterns("node_modules", "target"))
                elif original.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(original, target)
            if not target.exists() or (anchor and anchor not in anchors.get(target, {anchor})):
                broken.append(f"{page.relative_to(book)}: {link} leads nowhere")
            return f'{name}="{link}"'

        page.write_text(LINK.sub(lead, text))
    print("\n".join(sorted(set(broken))))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
