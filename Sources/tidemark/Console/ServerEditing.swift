import Administration
import Console
import Foundation
import RecordClient
import RecordModel
import RecordServer
import RecordStore
import Synchronization
import WireProtocol

/// Saves records of the console through the server, as a service that acts for a user.
///
/// The server treats such a save like any client's: quotas, notifications and request IDs are the
/// same, and the user becomes the modifier. The service's keys are made for this process, and
/// revoked when it ends.
final class ServerEditing: Sendable {
    /// The service, one in each container; its name says in a list of keys where they come from.
    static let serviceName = "tidemark-console"
    private static let timeout = Duration.seconds(10)

    /// The user to act as, in an environment of a container.
    private struct Actor: Hashable {
        var container: String
        var environment: Environment
        var user: String
    }

    private struct State {
        var clients: [Actor: RecordClient] = [:]
        /// The keys that were registered, to be revoked.
        var keys: [(container: String, keyID: String)] = []
    }

    private let folder: DataFolder
    private let state = Mutex(State())

    init(folder: DataFolder) { self.folder = folder }

    func save(_ edit: RecordEdit) async -> RecordEditOutcome {
        let client: RecordClient
        do {
            client = try await self.client(
                Actor(container: edit.container, environment: edit.environment, user: edit.user)
            )
        } catch {
            if let failure = CommandFailure(of: error) { return .refused(failure.message) }
            return .refused("The key of the console cannot be registered: \(error).")
        }
        let operation = ModifyRecords(scope: edit.scope, saves: [edit.save])
        do throws(ClientError) {
            let outcomes = try await client.perform(.modifyRecords(operation), timeout: Self.timeout)
            guard case .failure(let failure)? = outcomes[0] else { return .saved }
            if failure.code == .serverRecordChanged || failure.code == .unknownItem { return .conflict }
            return .refused("The server refuses the save: \(failure.message).")
        } catch {
            return .refused(Self.text(of: error, doing: "save"))
        }
    }

    /// Deletes a zone of the private database of a user.
    func deleteZone(
        _ zone: String,
        of user: String,
        inContainer container: String,
        environment: Environment
    ) async -> OperatorChangeOutcome {
        let operation = ModifyZones(scope: .private, saves: [], deletes: [ZoneID(zoneName: zone)])
        let actor = Actor(container: container, environment: environment, user: user)
        return await self.change(.modifyZones(operation), as: actor, doing: "deletion")
    }

    /// Begins, changes or ends a share, as its owner or as an administrator.
    func change(
        _ share: ShareChange,
        inContainer container: String,
        environment: Environment
    ) async -> OperatorChangeOutcome {
        let actor = Actor(container: container, environment: environment, user: share.user)
        return await self.change(.modifyRecords(share.operation), as: actor, doing: "change")
    }

    /// Makes a change with items that succeed together; `what` is a word for it.
    private func change(
        _ operation: RecordModel.Operation,
        as actor: Actor,
        doing what: String
    ) async -> OperatorChangeOutcome {
        do {
            let client = try await self.client(actor)
            let outcomes = try await client.perform(operation, timeout: Self.timeout)
            let failures = outcomes.sorted { $0.key < $1.key }.compactMap { _, outcome in
                if case .failure(let failure) = outcome { failure } else { nil }
            }
            // An item that fails only because another one failed has the less useful error.
            guard let failure = failures.first(where: { $0.code != .batchRequestFailed }) ?? failures.first
            else { return .done }
            guard failure.code != .serverRecordChanged else {
                return .refused(
                    "Somebody else has made a change since the page was read, and theirs stays. Load the page, and "
                        + "repeat yours."
                )
            }
            return .refused("The server refuses the \(what): \(failure.message).")
        } catch let error as ClientError {
            let text = Self.text(of: error, doing: what)
            if case .responseLost = error { return .unknown(text) }
            return .refused(text)
        } catch {
            if let failure = CommandFailure(of: error) { return .refused(failure.message) }
            return .refused("The key of the console cannot be registered: \(error).")
        }
    }

    /// Revokes the keys of this process.
    func end() async {
        let keys = self.state.withLock { state in
            state.clients = [:]
            defer { state.keys = [] }
            return state.keys
        }
        guard !keys.isEmpty else { return }
        try? await AdministeredStore.open(self.folder) { store in
            for key in keys {
                _ = try? store.directory.revokeServiceKeys(
                    ofService: Self.serviceName,
                    keyID: key.keyID,
                    inContainer: key.container
                )
            }
        }
    }

    // MARK: Clients

    private func client(_ actor: Actor) async throws -> RecordClient {
        if let known = self.state.withLock({ $0.clients[actor] }) { return known }
        guard DataFolderLock.isHeld(in: self.folder), let service = LockHolder(in: self.folder)?.service
        else {
            throw CommandFailure(
                .unavailable,
                "No server serves the folder, and a record is saved through one. Start it: "
                    + "tidemark serve --data \(ShellText.quoted(self.folder.path))"
            )
        }
        let pair = ServiceKeyPair()
        guard let pem = pair.privatePEM, let key = SigningKey(pem: pem) else {
            preconditionFailure("a key that was just made has a private part")
        }
        try await self.register(pair, for: actor)
        var configuration = ClientConfiguration(
            host: service.listen.reachableHost,
            port: service.listen.port,
            trust: self.trust,
            container: actor.container,
            environment: actor.environment
        )
        configuration.credential = .serviceKey(key, onBehalfOf: actor.user)
        let client = RecordClient(configuration: configuration)
        return self.state.withLock { state in
            // Another page may have been faster.
            let kept = state.clients[actor] ?? client
            state.clients[actor] = kept
            return kept
        }
    }

    private func register(_ pair: ServiceKeyPair, for actor: Actor) async throws {
        let key = NewServiceKey(
            serviceName: Self.serviceName,
            userRecordName: RandomNames.userRecordName(),
            keyID: pair.keyID,
            publicKey: pair.publicKey,
            onBehalfOf: [actor.user]
        )
        try await AdministeredStore.open(self.folder) { store in
            try store.directory.addServiceKey(key, toContainer: actor.container)
        }
        self.state.withLock { $0.keys.append((actor.container, pair.keyID)) }
    }

    /// The private authority of the folder if the server has one, or those of the system.
    private var trust: ClientConfiguration.Trust {
        let path = self.folder.path + "/tls/ca.pem"
        return FileManager.default.fileExists(atPath: path) ? .authorities(file: path) : .system
    }

    // MARK: Words

    /// `what` is what the server was asked for, such as "save".
    private static func text(of error: ClientError, doing what: String) -> String {
        switch error {
        case .refused(let failure): "The server refuses the \(what): \(failure.message)."
        case .misconfigured(let text): "The server cannot be reached: \(text)"
        case .unreachable, .offline, .closed: "The server does not respond. Nothing was changed: try again."
        case .responseLost:
            "The server did not answer in time. Load the page to see whether the \(what) was made."
        case .rejected, .cancelled, .protocolViolation, .fileFailed: "The \(what) failed: \(error)."
        }
    }
}
