import ArgumentParser

/// The command `tidemark assets`.
struct AssetsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assets",
        abstract: "Check the files that records name.",
        subcommands: [AssetsVerify.self]
    )
}
