import Foundation
import RecordModel
import TestSupport
import Testing

/// Manual pages and completions, as the packages have them.
@Suite(.timeLimit(.minutes(10)))
struct ManualPageTests {
    private static func makePages(_ program: String, in folder: TemporaryDirectory) async throws -> [URL] {
        let script = PackagingFile.folder.appendingPathComponent("man_pages.py").path
        let file = ChildProcess.buildFolder.appendingPathComponent(program).path
        let outcome = try await PackagingFile.run(
            "/bin/bash",
            "-c",
            #"set -o pipefail; "$1" --experimental-dump-help | python3 "$2" 8 "$3" 2026-11-26 "$4""#,
            "-",
            file,
            script,
            Release.version,
            folder.path
        )
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map { URL(fileURLWithPath: String($0)) }
    }

    /// Walks the help of the programs, which names the subcommands, and compares page by page.
    @Test(arguments: [("tidemark", 38), ("tidemark-listen", 1), ("tidemark-load", 4)])
    func `each command has a page with all its options, which groff formats without a warning`(
        program: String,
        pagesMin: Int
    ) async throws {
        let folder = try TemporaryDirectory()
        let pages = try await Self.makePages(program, in: folder)
        #expect(pages.count >= pagesMin)
        var commands = [[String]()]
        var walked = 0
        while let words = commands.popLast() {
            walked += 1
            let file = ChildProcess.buildFolder.appendingPathComponent(program)
            let help = try await ChildProcess.run(file, words + ["--help"]).output
            let name = ([program] + words).joined(separator: "-")
            let page = try String(contentsOfFile: "\(folder.path)/\(name).8", encoding: .utf8)
            let text = page.replacing(#"\-"#, with: "-")
            for option in try await PackagingFile.options(program, words) {
                #expect(text.contains("\\fB\(option)\\fR"), "\(name): \(option)")
            }
            #expect(text.contains("\"Tidemark \(Release.version)\""))
            let outcome = try await PackagingFile.run(
                "/usr/bin/groff",
                "-man",
                "-Tutf8",
                "-ww",
                "-z",
                "\(folder.path)/\(name).8"
            )
            #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(name): \(outcome.errors)")
            guard let start = help.firstRange(of: "SUBCOMMANDS:") else { continue }
            let names = help[start.upperBound...].matches(of: /(?m)^  ([a-z-]+)(?: |$)/).map { String($0.1) }
            #expect(!names.isEmpty)
            commands += names.map { words + [$0] }
        }
        #expect(walked == pages.count)
    }

    @Test func `the settings file has a page with all settings, which groff formats without a warning`()
        async throws
    {
        let program = ChildProcess.buildFolder.appendingPathComponent("tidemark")
        let json = try await ChildProcess.run(program, ["settings", "--all", "--json"]).output
        struct Setting: Decodable { var name: String }
        let settings = try JSONDecoder().decode([Setting].self, from: Data(json.utf8))
        let folder = try TemporaryDirectory()
        let path = folder.path + "/tidemark.json.5"
        let made = try await PackagingFile.run(
            "/bin/bash",
            "-c",
            #"set -o pipefail; "$1" settings --all --json | python3 -B "$2" "$3" 2026-11-26 >"$4""#,
            "-",
            program.path,
            PackagingFile.folder.appendingPathComponent("settings_page.py").path,
            Release.version,
            path
        )
        #expect(made.exitCode == 0, "\(made.errors)")
        let page = try String(contentsOfFile: path, encoding: .utf8).replacing(#"\-"#, with: "-")
        #expect(settings.count > 50)
        for setting in settings { #expect(page.contains("\\fB\(setting.name)\\fR"), "\(setting.name)") }
        let formatted = try await PackagingFile.run("/usr/bin/groff", "-man", "-Tutf8", "-ww", "-z", path)
        #expect(formatted.exitCode == 0 && formatted.errors.isEmpty, "\(formatted.errors)")
    }

    @Test(arguments: ["tidemark", "tidemark-listen", "tidemark-load"])
    func `each shell has completions`(program: String) async throws {
        func script(_ shell: String) async throws -> String {
            let file = ChildProcess.buildFolder.appendingPathComponent(program)
            let outcome = try await ChildProcess.run(file, ["--generate-completion-script", shell])
            #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
            return outcome.output
        }
        let loaded = try await PackagingFile.run(
            "/bin/bash",
            "-c",
            "eval \"$1\"; complete -p \"$2\"",
            "-",
            script("bash"),
            program
        )
        #expect(loaded.exitCode == 0 && loaded.errors.isEmpty, "\(loaded.errors)")
        #expect(loaded.output.hasSuffix(" \(program)\n"))
        #expect(try await script("zsh").hasPrefix("#compdef \(program)\n"))
        #expect(try await script("fish").contains("complete -c '\(program)'"))
    }
}
