import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import tidemark

/// What `--help` prints, in a terminal of 80 columns and in wider ones.
@Suite
struct HelpTests {
    /// Every command with its path.
    private static let commands: [(path: String, type: any ParsableCommand.Type)] = {
        func below(_ path: String, _ type: any ParsableCommand.Type) -> [(String, any ParsableCommand.Type)] {
            [(path, type)]
                + type.configuration.subcommands.flatMap { below(path + " " + $0._commandName, $0) }
        }
        return below("tidemark", Tidemark.self)
    }()

    @Test(arguments: Self.commands.map(\.path))
    func `help is wrapped once, and no command line is broken`(path: String) throws {
        let command = try #require(Self.commands.first { $0.path == path }).type
        let discussion = command.configuration.discussion.split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        let help = Tidemark.helpMessage(for: command, columns: 80)
            .split(separator: "\n", omittingEmptySubsequences: false)
        for line in discussion where line.hasPrefix("  ") {
            #expect(help.contains(line), "broken: \(line)")
        }
        // The parser wraps paragraphs: one that is wrapped in the source already would be wrapped twice.
        for (line, next) in zip(discussion, discussion.dropFirst()) where !line.isEmpty && !next.isEmpty {
            #expect(line.hasPrefix("  ") || next.hasPrefix("  "), "wrapped in the source: \(line)")
        }
        // The parser never wraps the usage.
        for line in help where !line.hasPrefix("USAGE: ") { #expect(line.count <= 80, "\(line)") }
    }

    @Test(
        arguments: [
            ("zone undo", "shared"), ("zone diff", "shared"), ("zone log", "shared"),
            ("zone import", "shared"), ("zone export", "shared"), ("explain", "shared"),
            ("schema import", "production"),
        ]
    )
    func `help offers no value that the command refuses`(path: String, refused: String) throws {
        let command = try #require(Self.commands.first { $0.path == "tidemark " + path }).type
        let help = Tidemark.helpMessage(for: command, columns: 200)
        let offers = help.split(separator: "\n").filter {
            $0.contains("(values: ") || $0.contains("default: ")
        }
        #expect(!offers.isEmpty && !offers.contains { $0.contains(refused) }, "\(help)")
        #expect(
            help.contains("(values: private, public; default: private)")
                || help.contains("(values: development; default: development)"),
            "\(help)"
        )
    }

    @Test
    func `the help of serve has the defaults`() {
        let help = Tidemark.helpMessage(for: Serve.self, columns: 200)
        for value in ["127.0.0.1:7430", "info", "text", "60"] {
            #expect(help.contains("(default: \(value))"), "\(value)")
        }
    }

    @Test(
        arguments: [
            ("sevre --data x", "'tidemark sevre'. Did you mean 'serve'?"),
            ("user ad", "'tidemark user ad'. Did you mean 'add'?"),
            ("user role lst x", "'tidemark user role lst'. Did you mean 'list'?"),
            ("frobnicate", "'tidemark frobnicate'. List them: tidemark --help"),
        ]
    )
    func `a mistyped command is told with the one that was meant`(arguments: String, message: String) {
        let failure = #expect(throws: CommandFailure.self) {
            try CommandNames.check(arguments.split(separator: " ").map(String.init), of: Tidemark.self)
        }
        #expect(failure?.code == .usage)
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
    }

    @Test(
        arguments: ["", "serve", "help", "help user", "user", "user --help", "--version", "user add alice"]
    )
    func `a command that is there is left to the parser`(arguments: String) throws {
        try CommandNames.check(arguments.split(separator: " ").map(String.init), of: Tidemark.self)
    }

    @Test(
        arguments: [
            ("user add --container c", 64, "tidemark: missing expected argument '<name>'"),
            ("user rotate bob --container c --overlap -5", 64, "tidemark: --overlap takes seconds from 0"),
            ("serve --metrics-interval -1", 64, "tidemark: metrics_interval_s takes a whole number from 0"),
            ("sevre", 64, "tidemark: there is no command 'tidemark sevre'."),
            ("serve --log-level loud", 64, "tidemark: 'loud' is not valid for log_level"),
        ] as [(String, Int32, String)]
    )
    func `every error begins with the program's name`(
        command: String,
        code: Int32,
        message: String
    ) async throws {
        let outcome = try await ChildProcess.run(
            ChildProcess.tidemark,
            command.split(separator: " ").map(String.init)
        )
        #expect(outcome.exitCode == code)
        #expect(outcome.errors.hasPrefix(message), "\(outcome.errors)")
        #expect(outcome.output == "")
    }

    @Test
    func `a file that is no text is no schema`() async throws {
        let outcome = try await ChildProcess.tidemark(
            "schema",
            "import",
            "--container",
            "c",
            ChildProcess.tidemark.path
        )
        #expect(outcome.exitCode == 65)
        #expect(outcome.errors.contains(" is not text. "))
    }

    @Test
    func `settings are listed as a server would have them`() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/settings.json"
        let text = #"{"in_flight_max": 2, "connections_max": 3}"#
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let outcome = try await ChildProcess.tidemark(
            "settings",
            "--all",
            "--json",
            "--config",
            file,
            "--set",
            "log_level=debug",
            environment: [
                "TIDEMARK_CONNECTIONS_MAX": "4", "TIDEMARK_TOKEN": "x", "TIDEMARK_IN_FLIGHT_MX": "5",
            ]
        )
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors.contains("TIDEMARK_IN_FLIGHT_MX"))
        #expect(outcome.errors.contains("'TIDEMARK_IN_FLIGHT_MAX'"))
        #expect(!outcome.errors.contains("TIDEMARK_TOKEN"))
        let rows = try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]]
        )
        #expect(rows.count == SettingsReader.names.count)
        func row(_ name: String) throws -> [String: Any] {
            try #require(rows.first { $0["name"] as? String == name })
        }
        #expect(try row("in_flight_max")["value"] as? Int == 2)
        #expect(try row("in_flight_max")["default"] as? Int == 128)
        #expect(try row("in_flight_max")["origin"] as? String == file)
        #expect(try row("in_flight_max")["max"] as? Int == 65_536)
        #expect(try row("connections_max")["value"] as? Int == 4)
        #expect(try row("connections_max")["origin"] as? String == "environment")
        #expect(try row("log_level")["value"] as? String == "debug")
        #expect(try row("log_level")["origin"] as? String == "flag")
        #expect(try row("log_format")["origin"] as? String == "default")
        let table = try await ChildProcess.tidemark("settings", "--all")
        #expect(table.exitCode == 0)
        #expect(table.output.hasPrefix("NAME "))
        #expect(table.output.split(separator: "\n").count == rows.count + 1)
    }

    @Test
    func `without --all the list has what operators use, and whatever is given`() async throws {
        let outcome = try await ChildProcess.tidemark("settings", "--set", "in_flight_max=2")
        #expect(outcome.exitCode == 0)
        let names = outcome.output.split(separator: "\n").dropFirst().map { $0.prefix { $0 != " " } }
        #expect((15...21).contains(names.count))
        #expect(names.contains("user_bytes_max"))
        #expect(names.contains("in_flight_max"))
        #expect(!names.contains("frame_bytes_max"))
    }
}
