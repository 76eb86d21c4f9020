import ArgumentParser
import RecordStore

/// `--yes`, and the course of a deletion: it is shown, confirmed, and done in turns beside a
/// server.
struct DeletionArguments: ParsableArguments {
    @Flag(help: "Skip the confirmation.")
    var yes = false

    /// Longer than a server takes to close the connections of revoked credentials.
    private static let connectionsEnd = Duration.seconds(1)
    private static let sweepInterval = Duration.milliseconds(20)

    /// Deletes everything, and returns what was deleted.
    func delete(
        _ deletion: Deletion,
        named name: String,
        in folder: DataFolder,
        explain: (DirectoryError) -> CommandFailure
    ) async throws -> DeletionExtent {
        try await AdministeredStore.open(folder) { store in
            do {
                let extent = try store.directory.extent(of: deletion)
                if !self.yes {
                    try Confirmation.ask("This deletes \(name) for good: \(extent.text).", name: name)
                }
                try store.directory.beginDeletion(deletion)
                if DataFolderLock.isHeld(in: folder) { try await Task.sleep(for: Self.connectionsEnd) }
                while true {
                    switch try store.directory.deleteSome(of: deletion) {
                    case .more: continue
                    case .sweeping: try await Task.sleep(for: Self.sweepInterval)
                    case .done: return extent
                    }
                }
            } catch let error as DirectoryError {
                throw explain(error)
            }
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
