import Administration
import Console
import RecordModel
import RecordServer
import RecordStore

/// Makes the changes of the console's pages, each as the command that has its name.
///
/// The store is opened for each change, beside a server or without one. A zone is deleted, and a share
/// changed, through the server, as a client of its user: so listeners hear of it.
struct OperatorChanges: Sendable {
    let folder: DataFolder
    let editing: ServerEditing

    func make(_ change: OperatorChange) async -> OperatorChangeOutcome {
        do {
            return try await self.outcome(of: change)
        } catch is CancellationError {
            return .unknown("The browser has left before the end. Load the page, and repeat what is missing.")
        } catch {
            if let failure = CommandFailure(of: error) { return .refused(failure.message) }
            return .unknown("The change failed: \(error). Load the page to see what was done.")
        }
    }

    private func outcome(of change: OperatorChange) async throws -> OperatorChangeOutcome {
        let container = change.container
        switch change.action {
        case .schema(let schema):
            _ = try await self.open { try AdministeredContainer(container, in: $0).change(schema) }
        case .addUser(let name):
            return .secret(try await self.user(name, container) { try $0.add().token.text })
        case .renewUser(let name):
            return .secret(try await self.user(name, container) { try $0.renew().text })
        case .revokeUser(let name): try await self.user(name, container) { try $0.revoke() }
        case .setContacts(let contacts, let user):
            try await self.user(user, container) { try $0.setContacts(contacts) }
        case .deleteUser(let name): try await self.delete(name, container)
        case .setRole(let role, let user, let isGiven):
            try await self.user(user, container) {
                try $0.setRole(role, isGiven: isGiven, in: change.environment)
            }
        case .addKey(let service, let users, let isReadOnly):
            let pair = ServiceKeyPair()
            try await self.open {
                try ServiceAccount(service, of: container, in: $0)
                    .register(pair, onBehalfOf: users, isReadOnly: isReadOnly)
            }
            return .secret(pair.privatePEM ?? "")
        case .revokeKeys(let service, let keyID):
            try await self.open {
                _ = try ServiceAccount(service, of: container, in: $0).revoke(keyID: keyID)
            }
        case .deleteZone(let zone, let user):
            return await self.editing.deleteZone(
                zone,
                of: user,
                inContainer: container,
                environment: change.environment
            )
        case .share(let share):
            return await self.editing.change(
                share,
                inContainer: container,
                environment: change.environment
            )
        }
        return .done
    }

    private func open<Value>(_ body: (Store) async throws -> Value) async throws -> Value {
        try await AdministeredStore.open(self.folder, body)
    }

    private func user<Value>(
        _ name: String,
        _ container: String,
        _ body: (UserAccount) throws -> Value
    ) async throws -> Value {
        try await self.open { try body(UserAccount(name, of: container, in: $0)) }
    }

    private func delete(_ name: String, _ container: String) async throws {
        try await self.open { store in
            try await DeletionRun(.user(name: name, container: container), in: store)
                .run { DataFolderLock.isHeld(in: self.folder) }
        }
    }
}
