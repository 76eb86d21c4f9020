import RecordModel
import RecordStore
import WireProtocol

/// What the store answered: to a whole request, or to a part of a fetch.
enum Outcomes: Sendable {
    case written([WriteOutcome])
    case read([ReadOutcome])

    var count: Int {
        switch self {
        case .written(let outcomes): outcomes.count
        case .read(let outcomes): outcomes.count
        }
    }

    /// What goes over the wire for the outcome at this place.
    func item(at offset: Int) -> ItemOutcome {
        switch self {
        case .written(let outcomes): ItemOutcome(outcomes[offset])
        case .read(let outcomes): ItemOutcome(outcomes[offset])
        }
    }

    /// About the memory that the outcomes hold.
    var heldBytes: Int {
        switch self {
        case .written(let outcomes): outcomes.reduce(0) { $0 + $1.heldBytes }
        case .read(let outcomes): outcomes.reduce(0) { $0 + $1.heldBytes }
        }
    }
}

extension ItemOutcome {
    init(_ outcome: WriteOutcome) {
        switch outcome {
        case .recordSaved(let changeTag, let system):
            self = .recordSaved(RecordSaved(changeTag: changeTag, system: system))
        case .zoneSaved(let zone): self = .zone(zone)
        case .deleted: self = .deleted
        case .failed(let error): self = .failure(Failure(error))
        }
    }

    init(_ outcome: ReadOutcome) {
        switch outcome {
        case .record(let record): self = .record(record)
        case .zone(let zone): self = .zone(zone)
        case .failed(let error): self = .failure(Failure(error))
        }
    }
}

/// What an outcome costs besides the bytes of a record.
private let outcomeOverheadBytes = 256

extension WriteOutcome {
    fileprivate var heldBytes: Int {
        switch self {
        case .recordSaved: outcomeOverheadBytes
        case .zoneSaved: outcomeOverheadBytes
        case .deleted: outcomeOverheadBytes
        case .failed(.recordExists(let record)): outcomeOverheadBytes + record.body.bytes.count
        case .failed(.changeTagStale(let record)): outcomeOverheadBytes + record.body.bytes.count
        case .failed: outcomeOverheadBytes
        }
    }
}

extension ReadOutcome {
    fileprivate var heldBytes: Int {
        switch self {
        case .record(let record): outcomeOverheadBytes + record.body.bytes.count
        case .zone: outcomeOverheadBytes
        case .failed: outcomeOverheadBytes
        }
    }
}
