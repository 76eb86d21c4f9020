import RecordModel
import Synchronization
import WireProtocol

/// Numbers the requests of each kind and asks the injector about them.
final class FaultCounter: Sendable {
    /// The item that a request was executed without.
    struct RefusedItem: Sendable {
        var number: Int
        var failure: Failure
    }

    private let injector: FaultInjector
    private let ordinals = Mutex<[OperationKind: Int]>([:])
    /// Requests that change something: what each was executed without, if anything.
    ///
    /// A request that is sent again gets the answer of its execution, so it must be without the same item. Unbounded: a server with faults does not
    /// live long.
    private let executed = Mutex<[RequestID: RefusedItem?]>([:])

    init(_ injector: @escaping FaultInjector) {
        self.injector = injector
    }

    func fault(for operation: OperationKind, userRecordName: String?) -> Fault? {
        let ordinal = self.ordinals.withLock { ordinals in
            ordinals[operation, default: 0] += 1
            return ordinals[operation, default: 0]
        }
        return self.injector(
            FaultOccasion(operation: operation, ordinal: ordinal, userRecordName: userRecordName)
        )
    }

    /// Notes that a request is executed, without an item or with all.
    ///
    /// - Returns: What it is to be executed without: when it was executed before, the same as then.
    func executes(_ id: RequestID, without item: RefusedItem?) -> RefusedItem? {
        self.executed.withLock { executed in
            if let before = executed[id] { return before }
            executed[id] = .some(item)
            return item
        }
    }
}

extension OperationKind {
    init(_ operation: Operation) {
        switch operation {
        case .modifyRecords: self = .modifyRecords
        case .fetchRecords: self = .fetchRecords
        case .modifyZones: self = .modifyZones
        case .fetchZones: self = .fetchZones
        case .queryRecords: self = .queryRecords
        case .checkSchema: self = .checkSchema
        case .fetchChanges: self = .fetchChanges
        case .fetchDatabaseChanges: self = .fetchDatabaseChanges
        case .fetchToken: self = .fetchToken
        case .modifySubscriptions: self = .modifySubscriptions
        case .fetchSubscriptions: self = .fetchSubscriptions
        case .listen: self = .listen
        case .uploadAssets: self = .uploadAssets
        case .downloadAssets: self = .downloadAssets
        case .acceptShares: self = .acceptShares
        case .fetchShareMetadata: self = .fetchShareMetadata
        case .fetchShareParticipants: self = .fetchShareParticipants
        case .requestShareAccess: self = .requestShareAccess
        }
    }
}
