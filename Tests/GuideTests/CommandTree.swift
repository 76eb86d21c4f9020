import Foundation
import TestSupport
import Testing

/// A program's subcommands and options, as the program itself describes them.
struct CommandTree: Decodable, Sendable {
    struct Name: Decodable, Sendable {
        let kind: String
        let name: String

        var spelling: String { self.kind == "long" ? "--\(self.name)" : "-\(self.name)" }
    }

    struct Argument: Decodable, Sendable {
        let kind: String
        let names: [Name]?
        let parsingStrategy: String?

        var values: Values {
            guard self.kind == "option" else { return .none }
            return self.parsingStrategy == "upToNextOption" ? .upToNextOption : .one
        }
    }

    /// How many words behind an option are its own.
    enum Values { case none, one, upToNextOption }

    let commandName: String
    let arguments: [Argument]?
    let subcommands: [CommandTree]?
    let defaultSubcommand: String?

    private struct Dump: Decodable { let command: CommandTree }

    static func read(_ program: String) async throws -> CommandTree {
        let executable = ChildProcess.buildFolder.appendingPathComponent(program)
        let outcome = try await ChildProcess.run(executable, ["--experimental-dump-help"])
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Dump.self, from: Data(outcome.output.utf8)).command
    }

    /// The commands that do something, each with its path.
    var commands: [(path: String, command: CommandTree)] {
        let children = self.subcommands?.filter { $0.commandName != "help" } ?? []
        guard !children.isEmpty else { return [(self.commandName, self)] }
        return children.flatMap(\.commands).map { ("\(self.commandName) \($0.path)", $0.command) }
    }

    func hasOption(_ name: String) -> Bool { self.options[name] != nil }

    /// Says what is wrong with a call; `nil` if its subcommand and options exist.
    func fault(of arguments: [String]) -> String? {
        let children = self.subcommands?.filter { $0.commandName != "help" } ?? []
        if !children.isEmpty {
            let known = self.options
            guard let first = arguments.first else { return "\(self.commandName) needs a subcommand" }
            if let child = children.first(where: { $0.commandName == first }) {
                return child.fault(of: Array(arguments.dropFirst()))
            }
            if known[first] != nil { return nil }
            if let child = children.first(where: { $0.commandName == self.defaultSubcommand }) {
                return child.fault(of: arguments)
            }
            return "\(self.commandName) has no \(first)"
        }
        let options = self.options
        var rest = arguments[...]
        var operands = 0
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-"), argument != "-" else {
                operands += 1
                continue
            }
            let name = argument.prefix { $0 != "=" }
            guard let values = options[String(name)] else { return "\(self.commandName) has no \(name)" }
            if values == .none || argument.contains("=") { continue }
            guard rest.popFirst() != nil else { return "\(name) of \(self.commandName) needs a value" }
            if values == .upToNextOption { rest = rest.drop { !$0.hasPrefix("-") } }
        }
        let takesOperands = self.arguments?.contains { $0.kind == "positional" } ?? false
        return operands > 0 && !takesOperands ? "\(self.commandName) takes no operand" : nil
    }

    /// The options by their spelling, and what follows them.
    private var options: [String: Values] {
        var options: [String: Values] = [
            "--help": .none, "-h": .none, "--version": .none, "--generate-completion-script": .one,
        ]
        for argument in self.arguments ?? [] {
            for name in argument.names ?? [] { options[name.spelling] = argument.values }
        }
        return options
    }
}
