import ArgumentParser

/// The command `tidemark zone`.
struct ZoneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zone",
        abstract: "Copy whole zones, show what changed in them, and undo changes.",
        discussion: """
            Works while the server runs. What changed is known if the container keeps a \
            history, from before the changes on: tidemark container history --help

              tidemark zone export --container iCloud.org.example.app --as alice \\
                  --zone Notes --output notes.tidemark
              tidemark zone log --container iCloud.org.example.app --as alice --zone Notes
              tidemark zone undo --container iCloud.org.example.app --as alice \\
                  --zone Notes --to 2026-11-26T09:30:00Z --dry-run
            """,
        subcommands: [
            ZoneExport.self, ZoneImport.self, ZoneLog.self, ZoneDiff.self, ZoneUndo.self,
        ]
    )
}
