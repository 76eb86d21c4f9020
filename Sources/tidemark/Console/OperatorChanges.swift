import Console
import RecordModel
import RecordServer
import RecordStore

/// Makes the changes of the console's pages, each as the command that has its name.
///
/// The store is opened for each change, beside a server or without one. A zone is deleted, and a share
/// changed, through the server, as a client of its user: so listeners hear of it.
struct OperatorChanges: Sendable {
    let data: DataOption
    let editing: ServerEditing

    func make(_ change: OperatorChange) async -> OperatorChangeOutcome {
        do {
            return try await self.outcome(of: change)
        } catch let failure as CommandFailure {
            return .refused(failure.message)
        } catch is CancellationError {
            return .unknown("The browser has left before the end. Load the page, and repeat what is missing.")
        } catch {
            return .unknown("The change failed: \(error). Load the page to see what was done.")
        }
    }

    private func outcome(of change: OperatorChange) async throws -> OperatorChangeOutcome {
        let container = change.container
        switch change.action {
        case .schema(let schema): _ = try await self.schemas(of: container).change(schema)
        case .addUser(let name): return .secret(try await self.user(name, container).add().token.text)
        case .renewUser(let name): return .secret(try await self.user(name, container).renew().text)
        case .revokeUser(let name): try await self.user(name, container).revoke()
        case .setContacts(let contacts, let user):
            try await self.user(user, container).setContacts(contacts)
        case .deleteUser(let name): try await self.delete(name, container)
        case .setRole(let role, let user, let isGiven):
            var arguments = RoleArguments()
            arguments.role = role
            arguments.environment = EnvironmentName(change.environment)
            _ = try await arguments.set(of: self.user(user, container), isGiven: isGiven)
        case .addKey(let service, let users, let isReadOnly):
            let pair = ServiceKeyPair()
            try await self.service(service, container)
                .register(pair, onBehalfOf: users, isReadOnly: isReadOnly)
            return .secret(pair.privatePEM ?? "")
        case .revokeKeys(let service, let keyID):
            _ = try await self.service(service, container).revoke(keyID: keyID)
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

    private func delete(_ name: String, _ container: String) async throws {
        var deletion = DeletionArguments()
        // The page has asked.
        deletion.yes = true
        _ = try await deletion.delete(
            .user(name: name, container: container),
            named: name,
            in: self.data.folder
        ) { error in
            DirectoryAdvice.failure(error, container: container, user: name)
        }
    }

    // MARK: Arguments of commands

    private func user(_ name: String, _ container: String) -> UserArguments {
        var arguments = UserArguments()
        arguments.name = name
        arguments.container = container
        arguments.data = self.data
        return arguments
    }

    private func service(_ name: String, _ container: String) -> ServiceArguments {
        var arguments = ServiceArguments()
        arguments.name = name
        arguments.container = container
        arguments.data = self.data
        return arguments
    }

    private func schemas(of container: String) -> SchemaArguments {
        var arguments = SchemaArguments()
        arguments.container = container
        arguments.data = self.data
        return arguments
    }
}

extension EnvironmentName {
    init(_ environment: Environment) {
        switch environment {
        case .development: self = .development
        case .production: self = .production
        }
    }
}
