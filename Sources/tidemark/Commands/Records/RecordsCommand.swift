import ArgumentParser

/// The command `tidemark records`.
struct RecordsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "records",
        abstract: "Query, get, save, delete, follow, export, import and check records.",
        discussion: """
            Works while the server runs, whose listeners are notified within about a \
            second. --as USER acts with the rights of a user or a service, who then is \
            the modifier of what is saved. Without --as, an operator reads all of the \
            public database, and writes nothing. Records are JSON in the shape of \
            CloudKit Web Services.

              tidemark records query --container iCloud.org.example.app --as alice \\
                  --type Note "isDone == 0"
              tidemark records export --container iCloud.org.example.app \\
                  --database public --output posts.jsonl
            """,
        subcommands: [
            RecordsQuery.self, RecordsGet.self, RecordsSave.self, RecordsDelete.self, RecordsChanges.self,
            RecordsExport.self, RecordsImport.self, RecordsDamaged.self,
        ]
    )
}
