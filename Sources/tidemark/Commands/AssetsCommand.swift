import ArgumentParser

/// The command `tidemark assets`.
struct AssetsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assets",
        abstract: "Look after the files that records name.",
        subcommands: [AssetsVerify.self]
    )
}
