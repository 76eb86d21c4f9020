import Foundation
import TestSupport
import Testing

/// The shell blocks of the documents name subcommands and options that the programs have.
@Suite(.timeLimit(.minutes(10)))
struct CommandTests {
    private static let programs = ["tidemark", "tidemark-listen", "tidemark-load", "tidemark-mirror"]

    /// All documents of users and operators, from the root of the repository.
    private static func documents() throws -> [String] {
        let paths = FileManager.default.enumerator(atPath: Article.root.path)
        var documents: [String] = []
        while let path = paths?.nextObject() as? String {
            let isOurs = path == "README.md" || path.hasPrefix("Clients/") || path.hasPrefix("Sources/")
            if isOurs, path.hasSuffix(".md") { documents.append(path) }
        }
        return documents.sorted()
    }

    @Test
    func `each call of our programs names a subcommand and options that exist`() async throws {
        var trees: [String: CommandTree] = [:]
        for program in Self.programs { trees[program] = try await CommandTree.read(program) }
        var count = 0
        for path in try Self.documents() {
            let file = Article.root.appendingPathComponent(path)
            for block in FencedBlock.all(in: try String(contentsOf: file, encoding: .utf8)) {
                for call in Self.calls(in: block) {
                    let name = call.program.split(separator: "/").last.map(String.init) ?? ""
                    guard let tree = trees[name] else { continue }
                    count += 1
                    let fault = Self.fault(of: call, in: tree)
                    #expect(fault == nil, "\(path):\(block.line): \(call.arguments.joined(separator: " "))")
                }
            }
        }
        #expect(count > 40)
    }

    /// The first column of the map for operators; a word in capitals stands for a value of the reader's.
    @Test
    func `each command that a document names in its text exists`() async throws {
        var trees: [String: CommandTree] = [:]
        for program in Self.programs { trees[program] = try await CommandTree.read(program) }
        var count = 0
        for path in try Self.documents() {
            let text = try String(contentsOf: Article.root.appendingPathComponent(path), encoding: .utf8)
            for span in text.matches(of: /`(tidemark(?:-listen|-load)?) ([^`\n]+)`/) {
                let call = ShellCall(
                    program: String(span.1),
                    arguments: span.2.split(separator: " ").map(String.init)
                )
                guard let tree = trees[call.program], call.arguments.first != "COMMAND" else { continue }
                count += 1
                #expect(Self.fault(of: call, in: tree) == nil, "\(path): \(span.0)")
            }
        }
        #expect(count > 20)
        let map = Article.root.appendingPathComponent("Sources/tidemark/README.md")
        let commands = try String(contentsOf: map, encoding: .utf8).components(separatedBy: "\n## ")
            .first { $0.hasPrefix("Commands\n") }
        let named = try #require(commands).matches(of: /(?:\n\||,) `([a-z]+)`/).map { String($0.1) }
        let known = Set(trees["tidemark"]?.subcommands?.map(\.commandName) ?? [])
        #expect(named.count > 10)
        #expect(Set(named).isSubset(of: known))
    }

    /// Commands that print no result of their own, each with the reason.
    private static let withoutJSON = [
        "tidemark serve": "it runs until a signal, and its log is JSON with --log-format",
        "tidemark console": "it serves pages until a signal",
        "tidemark schema export": "it prints a schema, which has a language of its own",
    ]

    @Test
    func `each command that prints a result prints it as JSON too`() async throws {
        var without: [String] = []
        var with = 0
        for program in Self.programs {
            for (path, command) in try await CommandTree.read(program).commands {
                if command.hasOption("--json") { with += 1 } else { without.append(path) }
            }
        }
        #expect(Set(without) == Set(Self.withoutJSON.keys))
        #expect(with > 40)
    }

    /// `tidemark-load` takes `--tenants` for its subcommand `tenants`, before it reads its arguments.
    private static func fault(of call: ShellCall, in tree: CommandTree) -> String? {
        let isAlias = tree.commandName == "tidemark-load" && call.arguments.first == "--tenants"
        return tree.fault(of: isAlias ? ["tenants"] + call.arguments.dropFirst() : call.arguments)
    }

    private static func calls(in block: FencedBlock) -> [ShellCall] {
        switch block.language {
        case "sh": ShellCall.all(in: block.text)
        // A unit of systemd.
        case "ini":
            block.text.replacing("\\\n", with: " ").split(separator: "\n")
                .filter { $0.hasPrefix("Exec") }
                .flatMap { ShellCall.all(in: String($0.drop { $0 != "=" }.dropFirst())) }
        default: []
        }
    }

    @Test(
        arguments: [
            "tidemark user ad alice", "tidemark user add alice --contaner c", "tidemark backup --to",
            "tidemark schema", "tidemark-load save --rat 3", "tidemark-listen --zones notes",
            "tidemark status now",
        ]
    )
    func `a call that no program understands is found`(line: String) async throws {
        let call = try #require(ShellCall.all(in: line).first)
        #expect(try await CommandTree.read(call.program).fault(of: call.arguments) != nil)
    }

    @Test
    func `calls are found behind variables, sudo, pipes and in substitutions`() {
        let text = """
            # tidemark comment
            sudo systemctl stop x && sudo -u tidemark tidemark status --data /d
            export TOKEN=$(tidemark user add "a b" \\
                --container c) # and a comment
            A=b /usr/bin/tidemark usage | head & tidemark key list > keys
            """
        let found = ShellCall.all(in: text).filter { $0.program.hasSuffix("tidemark") }
        #expect(
            found == [
                ShellCall(program: "tidemark", arguments: ["status", "--data", "/d"]),
                ShellCall(program: "tidemark", arguments: ["user", "add", "a b", "--container", "c"]),
                ShellCall(program: "/usr/bin/tidemark", arguments: ["usage"]),
                ShellCall(program: "tidemark", arguments: ["key", "list"]),
            ]
        )
    }
}
