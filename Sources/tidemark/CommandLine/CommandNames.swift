import ArgumentParser

/// Finds mistyped commands before the parser, which only calls them unexpected.
enum CommandNames {
    /// Commands with an option `--as` that was called `--user` at first.
    private static let renamed: Set<String> = ["access", "explain", "explain-record", "zone"]

    /// The arguments, in today's spelling.
    static func spelled(_ arguments: [String]) -> [String] {
        guard let command = arguments.first, self.renamed.contains(command) else { return arguments }
        let old = "--user"
        return arguments.map { argument in
            guard argument == old || argument.hasPrefix(old + "=") else { return argument }
            return "--as" + argument.dropFirst(old.count)
        }
    }

    /// Walks from a command to the subcommand that the arguments name, and counts the words of its name.
    ///
    /// - Throws: `usage` for an unknown name, with the nearest command.
    @discardableResult
    static func check(
        _ arguments: [String],
        of root: any ParsableCommand.Type
    ) throws(CommandFailure) -> (command: any ParsableCommand.Type, depth: Int) {
        var command = root
        var path = root._commandName
        if arguments.first == "help" { return (root, 0) }
        for (depth, argument) in arguments.enumerated() {
            let commands = command.configuration.subcommands
            // The walk ends at an option, after which only the parser knows the meaning.
            guard !commands.isEmpty, !argument.hasPrefix("-") else { return (command, depth) }
            let names = commands.map { $0._commandName }
            guard let offset = names.firstIndex(of: argument) else {
                let suggestion = NearestName.suggestion(for: argument, among: names)
                throw CommandFailure(
                    .usage,
                    "there is no command '\(path) \(argument)'.\(suggestion) List them: \(path) --help"
                )
            }
            command = commands[offset]
            path += " " + argument
        }
        return (command, arguments.count)
    }
}
