import Administration
import Dispatch
import MemoryEngine
import RecordModel
import RecordStore
import TestSupport

/// A store in memory, in a folder of its own.
final class OpenedStore: Sendable {
    static let container = "iCloud.org.example.administration"

    let store: Store
    let folder: DataFolder
    private let directory: TemporaryDirectory

    private init() throws {
        self.directory = try TemporaryDirectory()
        self.folder = DataFolder(path: self.directory.path)
        let engine = MemoryEngine(
            MemoryEngineConfiguration(
                folder: self.directory.path,
                housekeeping: Housekeeping.maker(),
                clock: SystemTime.milliseconds,
                monotonicNanoseconds: { Int64(DispatchTime.now().uptimeNanoseconds) }
            )
        )
        self.store = Store(engine, configuration: StoreConfiguration(clock: SystemTime.milliseconds))
    }

    /// Runs a body with a store that has one container.
    static func run(_ body: (OpenedStore) async throws -> Void) async throws {
        let opened = try OpenedStore()
        do {
            try opened.administered.create()
            try await body(opened)
        } catch {
            await opened.store.shutdown()
            throw error
        }
        await opened.store.shutdown()
    }

    var administered: AdministeredContainer { AdministeredContainer(Self.container, in: self.store) }

    func user(_ name: String) -> UserAccount { UserAccount(name, of: Self.container, in: self.store) }

    func service(_ name: String) -> ServiceAccount {
        ServiceAccount(name, of: Self.container, in: self.store)
    }

    /// The private database of a user, for an operation that writes.
    func database(of user: String, absent: AbsentDatabase = .isMade) throws -> AdministeredDatabase {
        let selection = DatabaseSelection(
            container: Self.container,
            scope: .private,
            user: user,
            environment: .development
        )
        return AdministeredDatabase(
            store: self.store,
            requester: try selection.requester(in: self.store, absent: absent),
            folder: self.folder
        )
    }
}
