import PostgreSQLEngine
import StorageContract

/// A failure without its number.
enum StorageFailureKind: Hashable {
    case unavailable, unexpected, conflict, outcomeUnknown, exceeds

    init(_ error: PostgreSQLError) {
        switch StorageFailure(error) {
        case .unavailable: self = .unavailable
        case .unexpected: self = .unexpected
        case .conflict: self = .conflict
        case .outcomeUnknown: self = .outcomeUnknown
        case .exceeds: self = .exceeds
        }
    }
}
