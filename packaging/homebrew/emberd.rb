# Builds emberd from its source. make release fills in what stands between at signs: where the
# archive of the source can be fetched, its SHA-256 and its version. docs/install.md has how.
class Emberd < Formula
  desc "Memory daemon for notes in Obsidian and for AI agents"
  homepage "@HOMEPAGE@"
  url "@URL@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "go" => :build

  def install
    ENV["CGO_ENABLED"] = "0"
    ldflags = "-s -w -X emberd/internal/cli.version=#{version}"
    %w[emberd emberd-llama].each do |program|
      system "go", "build", *std_go_args(ldflags:, output: bin/program), "./cmd/#{program}"
    end
    system bin/"emberd", "man", buildpath/"pages"
    man1.install Dir["pages/man1/*"]
    man5.install Dir["pages/man5/*"]
    generate_completions_from_executable(bin/"emberd", "completion")
  end

  service do
    run [opt_bin/"emberd", "serve"]
    keep_alive crashed: true
    log_path var/"log/emberd.log"
    error_log_path var/"log/emberd.log"
  end

  test do
    home = testpath/"h"
    daemon = spawn bin/"emberd", "serve", "--home", home
    begin
      60.times do
        break if quiet_system bin/"emberd", "status", "--home", home

        sleep 1
      end
      system bin/"emberd", "save", "Tomatoes need lime", "--home", home
      assert_match "Tomatoes need lime", shell_output("#{bin}/emberd search tomatoes --home #{home}")
    ensure
      Process.kill "TERM", daemon
      Process.wait daemon
    end
    assert_predicate $CHILD_STATUS, :success?
    assert_match "emberd-llama", shell_output("#{bin}/emberd-llama --version")
  end
end
