# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Installs each package of a release in a minimal root file system without Rust, uses it there and removes it again.

usage: run.py RELEASE [CASE...]     needs the rights of root (chroot, mounts); `make dist-test` calls it
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bare_root import SETTINGS, BareRoot, TestFailure, exercise, installed_hook, remove_root, run_hook
from first_use import Terminal, first_use
from pretended import pretended_release
from registry import Registry, download_npm_dependencies

REPOSITORY = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("TENTERHOOK_ROOT_CACHE", Path.home() / ".cache/tenterhook-root"))
WORK = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")).resolve() / "dist-test"


class Suite:
    """The test cases and their shared state."""

    def __init__(self, release: Path) -> None:
        self.release = release
        manifest = json.loads((release / "manifest.json").read_text())
        self.version: str = manifest["version"]
        # Programs for another processor are not run in these tests.
        machine = os.uname().machine
        targets = [target for target in manifest["targets"] if target.startswith(f"{machine}-")]
        if not targets:
            raise SystemExit(f"run.py: {release} has no build for {machine}")
        self.target = targets[0]
        self.archive: str = manifest["targets"][self.target]["archive"]
        self.cases: dict[str, Callable[[], None]] = {
            "busybox": self.plain_directory,
            "archive": self.unpacked_archive,
            "install.sh": self.install_script,
            "tampered": self.tampered_release,
            "update": self.self_update,
            "update-guarding": self.update_while_guarding,
            "deb": self.debian_package,
            "npm": self.npm_packages,
            "pip": self.python_wheel,
            "first-use": self.claude_code,
        }
        self.skipped: list[str] = []

    def not_run(self) -> str:
        """The targets of the release that are for another processor."""
        targets = json.loads((self.release / "manifest.json").read_text())["targets"]
        return "".join(f", packages of {target}" for target in targets if target != self.target)

    def root(self, *, busybox_only: bool = False) -> BareRoot:
        """A fresh root file system."""
        return BareRoot(WORK / "root", CACHE, self.release, busybox_only=busybox_only)

    def plain_directory(self) -> None:
        """A directory that contains only busybox. The program needs no shared library there, and resolves host names."""
        root = self.root(busybox_only=True)
        root.run(f"mkdir -p /opt && tar -x -z -f /release/{self.archive} -C /opt", user="root")
        program = f"/opt/{self.archive.removesuffix('.tar.gz')}/bin/tenterhook"
        exercise(root, program, self.version, "archive")
        registry = Registry([self.release])
        said = root.run(f"{program} self update --check --from http://localhost:{registry.port}").stdout
        registry.close()
        if "is the newest release" not in said:
            raise TestFailure(f"look-up of localhost: {said}")

    def unpacked_archive(self) -> None:
        """Unpacks the archive by hand."""
        root = self.root()
        root.run(f"tar -x -z -f /release/{self.archive}")
        exercise(root, f"/home/user/{self.archive.removesuffix('.tar.gz')}/bin/tenterhook", self.version, "archive")

    def install_script(self) -> None:
        """install.sh: each way to verify, options, and --uninstall."""
        root = self.root()
        before = root.files()
        hide = "mkdir -p /hidden; mv {} /hidden/"
        for tool, how in (("", "minisign"), ("/usr/bin/minisign", "OpenSSL"), ("/usr/bin/openssl", "NOT verified")):
            if tool:
                root.run(hide.format(tool), user="root")
                before = root.files()
            ran = root.run("sh /release/install.sh --from /release")
            if how not in ran.stdout or ("WARNING" in ran.stderr) != (how == "NOT verified"):
                raise TestFailure(f"install.sh with {how}: {ran.stdout}{ran.stderr}")
            exercise(root, "/home/user/.local/bin/tenterhook", self.version, "archive")
            root.run("sh /release/install.sh --uninstall")
            if left := root.files() - before:
                raise TestFailure(f"left behind: {sorted(left)}")
        root.run("mv /hidden/* /usr/bin/", user="root")
        root.expect_failure("sh /release/install.sh --from /release --version 9.9.9", "not version 9.9.9")
        root.expect_failure("sh /release/install.sh --nonsense", "unknown option")
        root.run(f"sh -s -- --from file:///release --prefix mine --version {self.version} < /release/install.sh")
        root.run("mine/bin/tenterhook self verify")
        if "--prefix" not in root.run("sh /release/install.sh --help").stdout:
            raise TestFailure("--help")
        # If xz is available, the smaller archive is used. Here the other archive is missing, so the test
        # would fail without xz.
        root.run("ln -s /bin/busybox /usr/local/bin/xz; cp -r /release /xz-only; rm /xz-only/*.tar.gz", user="root")
        root.run("sh /release/install.sh --from /xz-only --prefix from-xz && from-xz/bin/tenterhook self verify")
        registry = Registry([self.release])
        root.run(f"sh /release/install.sh --from {registry.url} --prefix fetched && fetched/bin/tenterhook --version")
        registry.close()

    def tampered_release(self) -> None:
        """If a file, the list or a signature was changed, nothing is installed. Every verification tool is tested."""
        root = self.root()
        changes = {
            "archive": (f"printf x >> /bad/{self.archive}", "differs from the release"),
            "list": ("sed -i '1s/^/0/' /bad/SHA256SUMS", "signature of the release does not match"),
            "comment": ("sed -i '3s/$/0/' /bad/SHA256SUMS.minisig", "signature of the release does not match"),
            # Every signature contains at least one of these letters, so the replacement always changes it.
            "signature": ("sed -i '2y/abcdefghijklmnopqrst/bcdefghijklmnopqrsta/' /bad/SHA256SUMS.minisig", "signature of the release does not match"),
        }
        for hidden in ("", "/usr/bin/minisign"):
            if hidden:
                root.run(f"mv {hidden} /hidden-minisign", user="root")
            for name, (change, message) in changes.items():
                root.run(f"rm -rf /bad; cp -r /release /bad; {change}; chmod -R a+rX /bad", user="root")
                root.expect_failure("sh /release/install.sh --from /bad", message)
                if root.host_path("/home/user/.local/bin/tenterhook").exists():
                    raise TestFailure(f"a changed {name} was installed")
        root.run("sh /release/install.sh --from /release && printf x >> .local/bin/tenterhook")
        root.expect_failure(".local/bin/tenterhook self verify", "differs from the release")
        root.run("sed -i 's/\"version\"/\"Version\"/' .local/share/tenterhook/manifest.json")
        root.expect_failure(".local/bin/tenterhook self verify", "signature of manifest.json does not match")

    def self_update(self) -> None:
        """`self update` installs a newer signed release. It refuses one that is older, changed, or signed by another key."""
        root = self.root()
        root.run("sh /release/install.sh --from /release")
        program = ".local/bin/tenterhook"
        for version in ("9.9.9", "0.0.1"):
            pretended_release(self.release, root.host_path(f"/v{version}"), version)
        if "is the newest release" not in root.run(f"{program} self update --from /release").stdout:
            raise TestFailure("the same version")
        if "9.9.9 is available" not in root.run(f"{program} self update --check --from /v9.9.9").stdout:
            raise TestFailure("--check")
        root.expect_failure(f"{program} self update --from /v0.0.1", "is older than")
        root.run(f"cp -r /v9.9.9 /bad && printf x >> /bad/{self.archive}", user="root")
        root.expect_failure(f"{program} self update --from /bad", "differs from the signed release")
        pretended_release(self.release, root.host_path("/foreign"), "9.9.9", WORK / "foreign.key")
        root.expect_failure(f"{program} self update --from /foreign", "does not match")
        root.expect_failure(f"{program} self update --from http://example.com", "unsupported release source")
        registry = Registry([root.host_path("/v9.9.9")])
        root.run(f"TENTERHOOK_RELEASES={registry.url} {program} self update")
        registry.close()
        manifest = json.loads(root.host_path("/home/user/.local/share/tenterhook/manifest.json").read_text())
        if manifest["version"] != "9.9.9":
            raise TestFailure(f"after the update the manifest is for {manifest['version']}")
        root.run(f"{program} self verify")

    def update_while_guarding(self) -> None:
        """`self update` replaces the installed hook programs and restarts the daemon; hooks answer before and after."""
        root = self.root()
        root.run("sh /release/install.sh --from /release && mkdir .claude && cat > .claude/settings.json", stdin=SETTINGS)
        pretended_release(self.release, root.host_path("/v9.9.9"), "9.9.9", other_program=True)
        terminal = Terminal(root, {})
        program = ".local/bin/tenterhook"
        terminal.run_line(f"{program} install claude-code --yes && {program} start")
        before = json.loads(root.run(f"{program} status --json").stdout)
        said = terminal.run_line(f"{program} self update --from /v9.9.9")
        after = json.loads(root.run(f"{program} status --json").stdout)
        if before["pid"] == after["pid"]:
            raise TestFailure(f"the daemon was not restarted:\n{said}")
        check = terminal.run_line(f"{program} self refresh --check && echo nothing is old")
        if "nothing is old" not in check:
            raise TestFailure(f"hooks or daemon are old after the update:\n{said}{check}")
        reply = run_hook(root, installed_hook(root))
        if "deny" not in reply:
            raise TestFailure(f"the hook of the new version replied {reply}")
        terminal.run_line(f"{program} stop")
        terminal.close()

    def debian_package(self) -> None:
        """Installs and removes the .deb with dpkg."""
        root = self.root()
        before = root.files()
        architecture = root.run("dpkg --print-architecture").stdout.strip()
        deb = f"tenterhook_{self.version.replace('-', '~')}_{architecture}.deb"
        root.run(f"dpkg --install /release/{deb}", user="root")
        exercise(root, "/usr/bin/tenterhook", self.version, "deb")
        root.run("test -f /usr/share/man/man1/tenterhook.1.gz -o -f /usr/share/tenterhook/manifest.json")
        root.expect_failure("tenterhook self update --from /release", "installed by deb", "sudo apt install")
        # The program of fleets is a package of its own, and a command of this one.
        root.expect_failure("tenterhook fleet --version", "tenterhook-fleet")
        root.run(f"dpkg --install /release/{deb.replace('tenterhook_', 'tenterhook-fleet_')}", user="root")
        root.run("tenterhook fleet --version && test -f /usr/lib/systemd/system/tenterhook-fleet.service")
        root.run("dpkg --purge tenterhook-fleet tenterhook", user="root")
        left = {path for path in root.files() - before if not path.startswith("var/")}
        if left:
            raise TestFailure(f"left behind: {sorted(left)}")

    def npm_packages(self) -> None:
        """Installs with npm from a registry on this machine. Without the optional package, the error is clear."""
        dependencies = WORK / "npm-dependencies"
        download_npm_dependencies(REPOSITORY / "sdk/typescript/package-lock.json", dependencies)
        registry = Registry([self.release, dependencies])
        root = self.root()
        npm = f"npm --registry {registry.url} --no-audit --no-fund --loglevel=error"
        root.run(f"{npm} install --global --prefix /home/user/.npm-global tenterhook")
        exercise(root, "/home/user/.npm-global/bin/tenterhook", self.version, "npm")
        root.expect_failure(".npm-global/bin/tenterhook self update --from /release", "installed by npm", "npm install --global")
        # The launcher exits with the exit code of the program.
        root.expect_failure(".npm-global/bin/tenterhook nonsense", "unrecognized subcommand")
        root.run(f"mkdir app && cd app && npm init --yes >/dev/null && {npm} install --omit=optional tenterhook")
        root.expect_failure("app/node_modules/.bin/tenterhook --version", "is not installed", "--include=optional")
        root.run("cd app && node --input-type=module -e 'import { TenterhookClient } from \"tenterhook\"; TenterhookClient.name'")
        root.run(f"{npm} uninstall --global --prefix /home/user/.npm-global tenterhook && test ! -e .npm-global/bin/tenterhook")
        registry.close()

    def python_wheel(self) -> None:
        """pip selects the wheel with the program, which installs both the SDK and the command."""
        dependencies = WORK / "python-dependencies"
        if not dependencies.exists():
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--python-version", "3.11"]
            platform = ["--platform", "manylinux_2_17_x86_64", "--platform", "manylinux2014_x86_64", "--dest", dependencies]
            subprocess.run([*pip, *platform, "grpcio>=1.85.1", "protobuf>=7.35.1"], check=True)
        root = self.root()
        subprocess.run(["cp", "-r", dependencies, root.host_path("/wheels")], check=True)
        root.run("python3 -m venv venv && venv/bin/pip install --quiet --no-index -f /release -f /wheels tenterhook")
        exercise(root, "/home/user/venv/bin/tenterhook", self.version, "pip")
        root.expect_failure("venv/bin/tenterhook self update --from /release", "installed by pip", "pip install --upgrade")
        root.run("venv/bin/python -c 'import tenterhook; from importlib.metadata import version; assert version(\"tenterhook\") == tenterhook.__version__'")
        root.run("venv/bin/pip uninstall --yes --quiet tenterhook && test ! -e venv/bin/tenterhook && test ! -e venv/share/tenterhook/manifest.json")

    def claude_code(self) -> None:
        """Types three command lines: they guard a real Claude Code, show a denial and remove everything again."""
        clients = os.environ.get("CLIENTS", Path.home() / ".cache/tenterhook-clients")
        command = ["sh", REPOSITORY / "tests/e2e/install-client.sh", "claude-code", "pinned", clients]
        client = subprocess.run(command, capture_output=True, text=True, check=False)
        server = WORK.parent / "debug/tenterhook-model-server"
        if client.returncode != 0 or not server.exists():
            why = client.stderr.strip() or f"{server} is missing (cargo build -p tenterhook-model-server)"
            self.skipped.append(f"first-use: a real Claude Code was NOT guarded: {why}")
            return
        first_use(self.root(), Path(client.stdout.strip()), server, WORK / "first-use.txt")
        print((WORK / "first-use.txt").read_text(), flush=True)


def main() -> None:
    """Runs the cases in a separate mount namespace."""
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    if os.geteuid() != 0:
        raise SystemExit("run.py: chroot and mounts need root")
    if "TENTERHOOK_TEST_NAMESPACE" not in os.environ:
        os.environ["TENTERHOOK_TEST_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])
    subprocess.run(["sh", REPOSITORY / "packaging/test/root.sh", CACHE], check=True)
    WORK.mkdir(parents=True, exist_ok=True)
    suite = Suite(Path(sys.argv[1]).resolve())
    failed = []
    chosen = sys.argv[2:] or list(suite.cases)
    for name in chosen:
        began = time.monotonic()
        try:
            suite.cases[name]()
            verdict = "ok"
        except TestFailure as error:
            failed.append(name)
            verdict = f"FAILED\n{error}"
        finally:
            remove_root(WORK / "root")
        print(f"{name}: {verdict} ({time.monotonic() - began:.1f} s)", flush=True)
    for reason in suite.skipped:
        print(f"SKIPPED {reason}")
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")
    if len(chosen) == len(suite.cases):
        print(f"packages of {suite.version} ({suite.target}) install, work and are removed on a bare root")
        print(f"NOT RUN: Homebrew formula and Dockerfile (they need brew and a container engine){suite.not_run()}")


if __name__ == "__main__":
    main()
