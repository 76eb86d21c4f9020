package import RecordStore

/// The deletion of a user, a service or a container for good, in turns beside a server.
package struct DeletionRun: Sendable {
    /// Longer than a server takes to close the connections of revoked credentials.
    private static let connectionsEnd = Duration.seconds(1)
    private static let sweepInterval = Duration.milliseconds(20)

    private let deletion: Deletion
    private let store: Store

    package init(_ deletion: Deletion, in store: Store) {
        self.deletion = deletion
        self.store = store
    }

    /// The contents that the deletion removes.
    package func extent() throws(AdministrationError) -> DeletionExtent {
        try self.directory { (directory) throws(DirectoryError) in
            try directory.extent(of: self.deletion)
        }
    }

    /// Deletes everything.
    ///
    /// A deletion that was interrupted is run again.
    ///
    /// - Parameter isServed: Whether a server has the folder, once the credentials are revoked.
    /// - Throws: `AdministrationError`, `CancellationError`.
    package func run(isServed: () -> Bool) async throws {
        try self.directory { (directory) throws(DirectoryError) in
            try directory.beginDeletion(self.deletion)
        }
        if isServed() { try await Task.sleep(for: Self.connectionsEnd) }
        while true {
            let progress = try self.directory { (directory) throws(DirectoryError) in
                try directory.deleteSome(of: self.deletion)
            }
            switch progress {
            case .more: continue
            case .sweeping: try await Task.sleep(for: Self.sweepInterval)
            case .done: return
            }
        }
    }

    private func directory<Value>(
        _ call: (Directory) throws(DirectoryError) -> Value
    ) throws(AdministrationError) -> Value {
        let user: String? =
            switch self.deletion {
            case .user(let name, _): name
            case .container: nil
            }
        return try self.store.directory(self.deletion.container, user: user, call)
    }
}
