import ArgumentParser

/// The command `tidemark zone`.
struct ZoneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zone",
        abstract: "Show what changed in a zone, compare it with how it was, and undo changes.",
        discussion: """
            Works while the server runs. The container has to keep a history, from before \
            the changes on: tidemark container history --help

              tidemark zone log --container iCloud.org.example.app --as alice --zone Notes
              tidemark zone undo --container iCloud.org.example.app --as alice \\
                  --zone Notes --to 2026-11-26T09:30:00Z --dry-run
            """,
        subcommands: [ZoneLog.self, ZoneDiff.self, ZoneUndo.self]
    )
}
