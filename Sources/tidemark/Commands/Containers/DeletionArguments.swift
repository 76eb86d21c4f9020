import Administration
import ArgumentParser
import RecordStore
import StorageContract

/// `--yes`, and the question before a deletion.
struct DeletionArguments: ParsableArguments {
    @Flag(help: "Skip the confirmation.")
    var yes = false

    /// Deletes everything, and returns what was deleted.
    func delete(
        _ deletion: Deletion,
        named name: String,
        in folder: DataFolder
    ) async throws -> DeletionExtent {
        try await AdministeredStore.open(folder) { store in
            let run = DeletionRun(deletion, in: store)
            let extent = try run.extent()
            if !self.yes {
                try Confirmation.ask("This deletes \(name) for good: \(extent.text).", name: name)
            }
            try await run.run { DataFolderLock.isHeld(in: folder) }
            return extent
        }
    }
}

extension DeletionExtent {
    /// A description with numbers.
    var text: String {
        func count(_ number: Int64, _ one: String, _ many: String) -> String {
            "\(number) \(number == 1 ? one : many)"
        }
        var parts = [
            count(self.stored.records, "record", "records"), count(self.stored.assets, "asset", "assets"),
            count(self.stored.bytes, "byte", "bytes"), count(Int64(self.shares), "share", "shares"),
        ]
        if self.memberships > 0 {
            parts.append(count(Int64(self.memberships), "joined share", "joined shares"))
        }
        if self.users != 1 { parts.insert(count(Int64(self.users), "user", "users"), at: 0) }
        return parts.joined(separator: ", ")
    }
}
