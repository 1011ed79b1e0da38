# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# NOT RUN: Homebrew was not available when this release was made. The Linux archives were tested by hand.

class Tenterhook < Formula
  desc "@DESCRIPTION@"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license any_of: ["Apache-2.0", "MIT"]

@BLOCKS@
  def install
    bin.install "bin/tenterhook"
    pkgshare.install "share/tenterhook/manifest.json", "share/tenterhook/manifest.json.minisig"
    (pkgshare/"receipt.json").write "{\"method\": \"homebrew\"}\n"
    doc.install Dir["share/doc/tenterhook/*"]
    man1.install Dir["share/man/man1/*.1"]
    bash_completion.install "share/bash-completion/completions/tenterhook"
    zsh_completion.install "share/zsh/site-functions/_tenterhook"
    fish_completion.install "share/fish/vendor_completions.d/tenterhook.fish"
  end

  def caveats
    "Run `tenterhook uninstall --all` before `brew uninstall tenterhook`: it removes hooks from your agents."
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tenterhook --version")
    system bin/"tenterhook", "self", "verify"
  end
end
