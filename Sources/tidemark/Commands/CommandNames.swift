import ArgumentParser

/// Finds mistyped commands before the parser, which only calls them unexpected.
enum CommandNames {
    /// Walks from a command to the one that the arguments name.
    ///
    /// - Throws: `usage` for a name that is no command, with the one that was meant.
    static func check(_ arguments: [String], of root: any ParsableCommand.Type) throws(CommandFailure) {
        var commands = root.configuration.subcommands
        var path = root._commandName
        if arguments.first == "help" { return }
        for argument in arguments {
            // An option ends the walk: the parser knows better what follows.
            guard !commands.isEmpty, !argument.hasPrefix("-") else { return }
            let names = commands.map { $0._commandName }
            guard let offset = names.firstIndex(of: argument) else {
                let suggestion = NearestName.suggestion(for: argument, among: names)
                throw CommandFailure(
                    .usage,
                    "there is no command '\(path) \(argument)'.\(suggestion) All of them: \(path) --help"
                )
            }
            commands = commands[offset].configuration.subcommands
            path += " " + argument
        }
    }
}
