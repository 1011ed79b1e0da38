# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Finishes the site that mdBook built: links out of `docs/` lead to the repository, and every other link leads somewhere.

usage: site.py DOCS SITE

A page links to a file of the repository by its path, so that the link works on GitHub. In the site, a link to a page that is not
part of the book becomes a link to the repository. The program fails and names every link to a page, file or anchor that does not exist.
"""

import html
import re
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINK = re.compile(r'\b(href|src)="([^"]*)"')
ANCHOR = re.compile(r'\bid="([^"]*)"')


class Site:
    def __init__(self, docs: Path, site: Path):
        self.docs, self.site = docs.resolve(), site.resolve()
        self.repository = self.docs.parent
        self.url = tomllib.loads((docs / "book.toml").read_text())["output"]["html"]["git-repository-url"]
        self.anchors: dict[Path, set[str]] = {}
        self.problems: list[str] = []

    def finish(self) -> None:
        pages = sorted(self.site.rglob("*.html"))
        for page in pages:
            # The page for missing pages may be shown at any address.
            if page.name == "404.html":
                continue
            text = page.read_text()
            changed = LINK.sub(lambda link, page=page: self.link(page, link), text)
            # mdBook names a page by its source directory, which is `.`.
            changed = changed.replace("/docs/./", "/docs/")
            if changed != text:
                page.write_text(changed)
        # mdBook copies every file of its source directory.
        for unused in [*self.site.glob("assets/*.py"), self.site / "book.toml"]:
            unused.unlink(missing_ok=True)

    def link(self, page: Path, link: re.Match) -> str:
        address = urlsplit(html.unescape(link[2]))
        if address.scheme or address.netloc:
            return link[0]
        target = (page.parent / unquote(address.path)).resolve() if address.path else page
        if self.site in [target, *target.parents]:
            return self.inside(page, link, target, address.fragment)
        return self.outside(page, link, target, address.fragment)

    def inside(self, page: Path, link: re.Match, target: Path, fragment: str) -> str:
        if target.is_dir():
            # A directory is not a page here; on GitHub it is.
            return self.outside(page, link, target, fragment)
        if target.name == "README.html":
            # mdBook makes `index.html` of a README.
            return f'{link[1]}="{link[2].replace("README.html", "index.html")}"'
        if not target.exists():
            return self.missing(page, link)
        if target.suffix == ".html" and fragment and fragment not in self.anchors_of(target):
            return self.missing(page, link)
        return link[0]

    def outside(self, page: Path, link: re.Match, target: Path, fragment: str) -> str:
        # mdBook has replaced `.md` by `.html`.
        path = self.docs / Path(*target.relative_to(self.site).parts) if self.site in target.parents else None
        path = path or self.beside_docs(target)
        for found in (path, path.with_suffix(".md")):
            if found.exists() and self.repository in found.resolve().parents:
                kind = "tree" if found.is_dir() else "blob"
                address = f"{self.url}/{kind}/main/{found.relative_to(self.repository).as_posix()}"
                return f'{link[1]}="{address}{"#" + fragment if fragment else ""}"'
        return self.missing(page, link)

    def beside_docs(self, target: Path) -> Path:
        """A path above the site stands for the same path above `docs/`."""
        above = self.site.parent
        parts = target.relative_to(above).parts if above in target.parents else ("no such file",)
        return self.repository.joinpath(*parts)

    def anchors_of(self, page: Path) -> set[str]:
        if page not in self.anchors:
            self.anchors[page] = {html.unescape(name) for name in ANCHOR.findall(page.read_text())}
        return self.anchors[page]

    def missing(self, page: Path, link: re.Match) -> str:
        self.problems.append(f"{page.relative_to(self.site)}: no such page or anchor: {link[2]}")
        return link[0]


def main() -> int:
    site = Site(Path(sys.argv[1]), Path(sys.argv[2]))
    site.finish()
    for problem in site.problems:
        print(problem, file=sys.stderr)
    return 1 if site.problems else 0


if __name__ == "__main__":
    sys.exit(main())
