import Foundation
import TestSupport
import Testing

/// What the scripts lay out for a package, without its programs.
@Suite(.timeLimit(.minutes(10)))
struct PackageListTests {
    /// Runs functions of `lib-stage`, with a folder as their last word.
    private func staged(
        _ commands: String,
        environment: [String: String] = [:]
    ) async throws -> (folder: TemporaryDirectory, output: String) {
        let folder = try TemporaryDirectory()
        let outcome = try await PackagingFile.run(
            "/bin/bash",
            "-euc",
            "here=$1 stage=$2; . \"$here/Packaging/lib-stage\"; \(commands)",
            "-",
            Readme.repository.path,
            folder.path,
            environment: environment
        )
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return (folder, outcome.output)
    }

    private func files(_ folder: TemporaryDirectory) throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: folder.path))
    }

    @Test
    func `the server's package has the units of backups, and keeps the settings`() async throws {
        let files = try self.files(try await self.staged("stage_service \"$stage\"").folder)
        let units = [
            "tidemark.service", "tidemark-follow.service", "tidemark-backup.service",
            "tidemark-backup.timer",
        ]
        for unit in units {
            #expect(files.contains("usr/lib/systemd/system/\(unit)"), "\(unit)")
        }
        #expect(files.contains("etc/tidemark/tidemark.json"))
    }

    @Test
    func `the server's package has alert rules, dashboard and every guide, whose links to each other hold`()
        async throws
    {
        let folder = try await self.staged("stage_guides \"$stage\"").folder
        let files = try self.files(folder)
        #expect(files.isSuperset(of: ["Monitoring/alerts.yml", "Monitoring/dashboard.json", "METRICS.md"]))
        let source = Readme.repository.appendingPathComponent("Sources/tidemark")
        let guides = try FileManager.default.contentsOfDirectory(
            atPath: source.appendingPathComponent("Guides").path
        )
        #expect(files.isSuperset(of: guides.map { "Guides/\($0)" }))
        for file in files where file.hasSuffix(".md") {
            let url = URL(fileURLWithPath: folder.path).appendingPathComponent(file)
            let links = try String(contentsOf: url, encoding: .utf8).matches(of: /\]\(([^)#:]+)/)
            for link in links.map({ String($0.1) }) {
                let target = url.deletingLastPathComponent().appendingPathComponent(link).standardized.path
                // Pages beside the code of a part are for those who change it.
                let isInside = target.hasPrefix(folder.path + "/") && link != "https"
                guard isInside, !target.contains("/Backup/") else { continue }
                #expect(FileManager.default.fileExists(atPath: target), "\(file): \(link)")
            }
        }
    }

    @Test
    func `whoever builds a package is its maintainer`() async throws {
        let named = try await self.staged(
            "maintainer; with_maintainer \"$here/Packaging/debian/changelog\"",
            environment: ["DEBEMAIL": "ann@example.org", "DEBFULLNAME": "Ann & Co"]
        ).output
        #expect(named.hasPrefix("Ann & Co <ann@example.org>\n"))
        #expect(named.contains("\n -- Ann & Co <ann@example.org>  "))
        for file in ["lib-stage", "debian/changelog", "debian/copyright", "debian/control"] {
            #expect(!(try PackagingFile.text(file).contains(".invalid")), "\(file)")
        }
    }

    @Test(
        arguments: [
            ("https://code.example/tidemark.git", "https://code.example/tidemark\n"),
            ("git@code.example:us/tidemark.git", "https://code.example/us/tidemark\n"),
            ("/srv/git/tidemark", ""),
        ]
    )
    func `the homepage is where the source came from`(remote: String, homepage: String) async throws {
        let output = try await self.staged(
            "git init -q \"$stage\"; git -C \"$stage\" remote add origin '\(remote)'; here=$stage; homepage"
        ).output
        #expect(output == homepage)
    }

    @Test
    func `completions for bash have no line that would run them`() async throws {
        let bin = ChildProcess.buildFolder.path
        let script = """
            strip() { :; }
            version=0 SOURCE_DATE_EPOCH=0
            stage_program tidemark 8 '\(bin)' "$stage"
            """
        let folder = try await self.staged(script).folder
        let path = folder.path + "/usr/share/bash-completion/completions/tidemark"
        #expect(!(try String(contentsOfFile: path, encoding: .utf8)).hasPrefix("#!"))
        let outcome = try await PackagingFile.run("/bin/bash", "-n", path)
        #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    }
}
