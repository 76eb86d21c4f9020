import NIOCore
import RecordModel
package import RecordStore
import StorageContract
package import WireProtocol

/// The outcomes of a whole request, or of a part of a fetch.
package enum Outcomes: Sendable {
    case written([WriteOutcome])
    case read([ReadOutcome])
    /// Records of a fetch, or a page of a query or of a feed, with its end: each frame payload
    /// counts as an outcome.
    case encoded(EncodedItems)
    case subscriptions([SubscriptionOutcome])
    /// A response without items.
    indirect case ended(End)

    /// The last frame of the response.
    package var end: End {
        switch self {
        case .written, .read, .subscriptions: End()
        case .encoded(let items): items.end
        case .ended(let end): end
        }
    }

    package var count: Int {
        switch self {
        case .written(let outcomes): outcomes.count
        case .read(let outcomes): outcomes.count
        case .encoded(let items): items.payloads.count
        case .subscriptions(let outcomes): outcomes.count
        case .ended: 0
        }
    }

    /// Codes of items that were encoded as failures.
    var encodedFailures: [ErrorCode] {
        if case .encoded(let items) = self { items.failures } else { [] }
    }

    /// The outcome at this index in wire format.
    package func item(at offset: Int) -> ItemOutcome {
        switch self {
        case .written(let outcomes): ItemOutcome(outcomes[offset])
        case .read(let outcomes): ItemOutcome(outcomes[offset])
        case .subscriptions(let outcomes): ItemOutcome(outcomes[offset])
        case .encoded, .ended: preconditionFailure("a response without such items was asked for one")
        }
    }

    /// Appends the outcome at this index to the payload of an `items` frame.
    ///
    /// - Parameters:
    ///   - offset: The index.
    ///   - number: The item's number, unless it was encoded with the item.
    ///   - buffer: The payload.
    /// - Returns: The outcome's failure, if it is one.
    func append(at offset: Int, number: UInt32, toItems buffer: inout ByteBuffer) -> Failure? {
        if case .encoded(let items) = self {
            buffer.writeImmutableBuffer(items.payloads[offset])
            return nil
        }
        let outcome = self.item(at: offset)
        Item(index: number, outcome: outcome).append(toItems: &buffer)
        guard case .failure(let failure) = outcome else { return nil }
        return failure
    }

    /// Approximate memory of the outcomes.
    var heldBytes: Int {
        switch self {
        case .written(let outcomes): outcomes.reduce(0) { $0 + $1.heldBytes }
        case .read(let outcomes): outcomes.reduce(0) { $0 + $1.heldBytes }
        case .encoded(let items): items.bytes + items.end.token.count + items.end.cursor.count
        case .subscriptions(let outcomes): outcomes.reduce(0) { $0 + $1.heldBytes }
        case .ended(let end): end.missing.reduce(0) { $0 + $1.utf8.count }
        }
    }
}

extension ItemOutcome {
    init(_ outcome: WriteOutcome) {
        switch outcome {
        case .recordSaved(let position, let system):
            self = .recordSaved(RecordSaved(changeTag: ChangeTag.text(of: position), system: system))
        case .zoneSaved(let zone): self = .zone(zone)
        case .subscriptionSaved(let subscription): self = .subscription(subscription)
        case .deleted: self = .deleted
        case .shareAccepted(let record): self = .record(RecordMessage(record))
        case .done: self = .done
        case .failed(let error): self = .failure(Failure(error))
        }
    }

    init(_ outcome: ReadOutcome) {
        switch outcome {
        case .record(let record): self = .record(RecordMessage(record))
        case .zone(let zone): self = .zone(zone)
        case .shareMetadata(let metadata): self = .shareMetadata(metadata)
        case .identity(let identity): self = .participant(ShareParticipant(invitable: identity))
        case .explanation(let explanation): self = .explanation(explanation)
        case .failed(let error): self = .failure(Failure(error))
        }
    }
}

extension ShareParticipant {
    /// A user who may be invited, by an ID that no share has yet.
    fileprivate init(invitable identity: UserIdentity) {
        self.init(id: RandomNames.participantID(), identity: identity, acceptance: .unknown)
    }
}

extension ItemOutcome {
    init(_ outcome: SubscriptionOutcome) {
        switch outcome {
        case .subscription(let subscription): self = .subscription(subscription)
        case .failed(let error): self = .failure(Failure(error))
        }
    }
}

/// Memory of an outcome besides the bytes of a record.
private let outcomeOverheadBytes = 256

extension WriteOutcome {
    fileprivate var heldBytes: Int {
        switch self {
        case .recordSaved: outcomeOverheadBytes
        case .zoneSaved: outcomeOverheadBytes
        case .subscriptionSaved(let subscription): subscription.heldBytes
        case .deleted, .done: outcomeOverheadBytes
        case .shareAccepted(let record): outcomeOverheadBytes + record.body.bytes.count
        case .failed(.recordExists(let record)): outcomeOverheadBytes + record.body.bytes.count
        case .failed(.changeTagStale(let record)): outcomeOverheadBytes + record.body.bytes.count
        case .failed: outcomeOverheadBytes
        }
    }
}

extension SubscriptionOutcome {
    fileprivate var heldBytes: Int {
        switch self {
        case .subscription(let subscription): subscription.heldBytes
        case .failed: outcomeOverheadBytes
        }
    }
}

extension Subscription {
    /// Its parts take about as much memory as its text.
    fileprivate var heldBytes: Int { outcomeOverheadBytes + 2 * self.encoded().readableBytes }
}

extension ReadOutcome {
    fileprivate var heldBytes: Int {
        switch self {
        case .record(let record): outcomeOverheadBytes + record.body.bytes.count
        case .zone, .identity: outcomeOverheadBytes
        case .shareMetadata(let metadata):
            outcomeOverheadBytes + metadata.share.body.bytes.count
                + (metadata.rootRecord?.body.bytes.count ?? 0)
        case .explanation(let explanation):
            outcomeOverheadBytes
                * (1 + explanation.access.count + explanation.matches.count + explanation.deliveries.count)
        case .failed: outcomeOverheadBytes
        }
    }
}

extension Result<Outcomes, StoreError> {
    /// Records that could not be read or replaced because they are damaged.
    var damagedRecords: [RecordID] {
        switch self {
        case .failure(.recordDamaged(let id)): [id]
        case .success(.encoded(let items)): items.damaged
        case .success(.written(let outcomes)):
            outcomes.compactMap { if case .failed(.recordDamaged(let id)) = $0 { id } else { nil } }
        case .failure, .success: []
        }
    }
}
