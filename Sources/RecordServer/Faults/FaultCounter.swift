import RecordModel
import Synchronization

/// Numbers the requests of each kind and asks the injector about them.
final class FaultCounter: Sendable {
    private let injector: FaultInjector
    private let ordinals = Mutex<[OperationKind: Int]>([:])

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
        }
    }
}
