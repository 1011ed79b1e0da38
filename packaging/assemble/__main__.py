# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes every package of a release from built programs. Needs Python 3.11, cargo and OpenSSL 3 (or minisign).

`make dist` calls it; see docs/RELEASING.md.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
from pathlib import Path

import deb
import fleet
import layout
import npm
import signing
import wheel
from archives import tar_gz, tar_xz
from metadata import PACKAGE, Project, sbom

ROOT = Path(__file__).resolve().parents[2]
# Every target that packages exist for. A target without a build is listed as not built.
ALL_TARGETS = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
]


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="assemble", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    key = commands.add_parser("key", help="print the public key, making a throw-away key if the file is missing")
    key.add_argument("file", type=Path)
    release = commands.add_parser("release", help="make the packages")
    release.add_argument("--out", type=Path, required=True)
    release.add_argument("--program", action="append", required=True, metavar="TARGET=FILE", dest="programs")
    release.add_argument("--fleet-program", action="append", default=[], metavar="TARGET=FILE", dest="fleet_programs")
    release.add_argument("--caveat", action="append", default=[], metavar="TARGET=TEXT", dest="caveats")
    release.add_argument("--run", type=Path, metavar="FILE", help="a program that runs here [default: the first]")
    release.add_argument("--npm-pack", type=Path, metavar="FILE", help="what `npm pack` made of sdk/typescript")
    release.add_argument("--key", type=Path, required=True)
    release.add_argument("--throw-away-key", action="store_true")
    release.add_argument("--epoch", type=int, required=True)
    release.add_argument("--commit", required=True)
    release.add_argument("--url", required=True, help="where the releases will be published")
    arguments = parser.parse_args()
    try:
        if arguments.command == "key":
            file = arguments.file
            print((signing.load(file, file.with_suffix(".pub")) if file.exists() else signing.generate(file)).public_base64)
        else:
            make_release(arguments)
    except signing.SigningError as error:
        raise SystemExit(f"assemble: {error}") from error


def make_release(arguments: argparse.Namespace) -> None:
    """Writes the release directory."""
    project = Project(ROOT)
    out: Path = arguments.out
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    key = signing.load(arguments.key, arguments.key.with_suffix(".pub"))
    pairs = [program.split("=", 1) for program in arguments.programs]
    caveats = dict(caveat.split("=", 1) for caveat in arguments.caveats)
    builds = [layout.find_build(target, Path(file), caveats.get(target, "")) for target, file in pairs]
    runnable = arguments.run or Path(pairs[0][1])
    for build in builds:
        layout.add_extra_files(project, build, runnable)
    key_kind = "throw-away" if arguments.throw_away_key else "release"

    manifest = out / "manifest.json"
    manifest.write_bytes(layout.manifest_bytes(project, builds, arguments.commit, key_kind))
    key.sign(manifest, f"{PACKAGE} {project.version} manifest.json")
    (out / f"{PACKAGE}.pub").write_text(key.public_file)
    (out / f"{PACKAGE}-{project.version}.cdx.json").write_bytes(sbom(project, [it.target for it in builds], arguments.epoch))
    archives = {}
    for build in builds:
        name = build.archive.format(version=project.version)
        files = layout.prefix_files(build, "archive", manifest)
        # Every system can unpack gzip. The xz archive is a quarter smaller, for systems that have xz.
        write(out, name + ".tar.gz", tar_gz(files, arguments.epoch, name + "/"))
        archives[build.target] = write(out, name + ".tar.xz", tar_xz(files, arguments.epoch, name + "/"))
        if build.target in deb.ARCHITECTURES:
            write(out, *deb.package(project, build, manifest, arguments.epoch))
        write(out, *npm.platform_package(project, build, manifest, arguments.epoch))
        write(out, *wheel.platform_wheel(project, build, manifest, arguments.epoch))
    fleet_builds = [make_fleet_packages(project, out, pair, arguments.epoch) for pair in arguments.fleet_programs]
    write(out, *wheel.pure_wheel(project, arguments.epoch))
    if arguments.npm_pack:
        write(out, *npm.main_package(project, arguments.npm_pack, builds, arguments.epoch))
    values = {
        "VERSION": project.version,
        "PUBLIC_KEY": key.public_base64,
        "KEY_KIND": key_kind,
        "URL": arguments.url.rstrip("/"),
        "HOMEPAGE": project.homepage,
        "DESCRIPTION": project.description,
    }
    fill("install.sh", out / "install.sh", values, 0o755)
    fill("Dockerfile", out / "Dockerfile", values, 0o644)
    fill("tenterhook.rb", out / "tenterhook.rb", {**values, "BLOCKS": formula_blocks(archives, project, values["URL"])}, 0o644)
    (out / "TARGETS.txt").write_text(describe_targets(builds))
    write_checksums(out, key, project)
    report(out, builds, key, key_kind)
    for build in fleet_builds:
        print(fleet.program_line(build))


def make_fleet_packages(project: Project, out: Path, pair: str, epoch: int) -> fleet.FleetBuild:
    """Writes the packages of `tenterhook-fleet` for one target."""
    target, file = pair.split("=", 1)
    build = fleet.find_build(project, target, Path(file))
    name = f"{fleet.PACKAGE}-{project.version}-{target}"
    write(out, name + ".tar.gz", tar_gz(fleet.archive_files(build), epoch, name + "/"))
    write(out, name + ".tar.xz", tar_xz(fleet.archive_files(build), epoch, name + "/"))
    if target in deb.ARCHITECTURES:
        write(out, *fleet.debian_package(project, build, epoch))
    return build


def write(out: Path, name: str, contents: bytes) -> Path:
    """Writes one package."""
    path = out / name
    path.write_bytes(contents)
    return path


def fill(template: str, target: Path, values: dict[str, str], mode: int) -> None:
    """Fills `@NAME@` in a template."""
    text = (ROOT / "packaging/templates" / template).read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    target.write_text(text)
    target.chmod(mode)


def formula_blocks(archives: dict[str, Path], project: Project, url: str) -> str:
    """The part of the Homebrew formula that names the archives of this release."""
    systems = {"linux": [], "macos": []}
    for target, path in sorted(archives.items()):
        processor = "intel" if target.startswith("x86_64") else "arm"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        systems["macos" if "apple" in target else "linux"].append(
            f'    on_{processor} do\n      url "{url}/download/v{project.version}/{path.name}"\n'
            f'      sha256 "{digest}"\n    end\n'
        )
    return "\n".join(f"  on_{system} do\n{''.join(blocks)}  end\n" for system, blocks in systems.items() if blocks)


def describe_targets(builds: list[layout.Build]) -> str:
    """Describes for which targets this release was built, and for which it was not."""
    built = [build.target for build in builds]
    lines = [f"{build.target}: built{' (static)' if 'linux' in build.target else ''}" for build in builds]
    lines = [line + (f"; {build.caveat}" if build.caveat else "") for line, build in zip(lines, builds, strict=True)]
    lines += [f"{target}: not built in this release" for target in ALL_TARGETS if target not in built]
    lines.append("tenterhook.rb (Homebrew), Dockerfile: written, NOT RUN")
    return "\n".join(lines) + "\n"


def write_checksums(out: Path, key: signing.SigningKey, project: Project) -> None:
    """Lists and signs every file."""
    files = sorted(path for path in out.iterdir() if path.is_file())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    sums = out / "SHA256SUMS"
    sums.write_text("".join(lines))
    key.sign(sums, f"{PACKAGE} {project.version} SHA256SUMS")


def report(out: Path, builds: list[layout.Build], key: signing.SigningKey, key_kind: str) -> None:
    """Prints the created files."""
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.name}")
    for build in builds:
        print(f"program for {build.target}: {len(build.program) / 1e6:.1f} MB")
    print(f"signed with key {key.key_name} ({key_kind})")


main()
