import RecordModel
import StorageContract

/// Reports what the store knows of one record, if the requester may read it: all from one snapshot.
///
/// An operator sees every user. The owner of a zone sees their own installations and those of the
/// participants, and all other users see their own. Subscriptions are shown to their users alone.
struct ExplainExecution {
    let requester: Requester
    let snapshot: any Snapshot
    /// Progress that no row may have yet.
    let unwritten: SeenInstallations

    /// Subscriptions, and installations, that an explanation lists.
    static let listedMax = Bounds.explainedMax

    init(
        for requester: Requester,
        snapshot: any Snapshot,
        unwritten: SeenInstallations
    ) {
        self.requester = requester
        self.snapshot = snapshot
        self.unwritten = unwritten
    }

    /// A record with the data that the parts of its explanation need.
    struct Subject {
        let id: RecordID
        let zone: ZoneKey
        let stored: StoredRecord
        let createdPosition: Int64

        var key: RecordKey { RecordKey(zone: self.zone, number: self.stored.number) }
    }

    /// Whether the requester sees every user who may read or has fetched.
    var seesAll: Bool { self.requester.isOperator || self.requester.scope == .private }

    /// Fails as a fetch of the record would.
    func explanation(
        of id: RecordID
    ) throws(StorageFailure) -> Result<RecordExplanation, StoreError> {
        let record: Record
        switch try FetchExecution.record(
            id,
            desiredKeys: [],
            for: self.requester,
            bytesMax: .max,
            snapshot: self.snapshot
        ) {
        case .success(let found): record = found
        case .failure(let error): return .failure(error)
        }
        guard let zone = try self.snapshot.key(of: id.zone, for: self.requester),
            let stored = try self.snapshot.record(named: id.recordName, in: zone),
            let positions = try self.snapshot.positions(ofRecordNamed: id.recordName, in: zone)
        else { return .failure(.internalFault) }
        let subject = Subject(
            id: id,
            zone: zone,
            stored: stored,
            createdPosition: positions.createdPosition
        )
        var explanation = RecordExplanation(record: record, position: stored.position)
        let seen = try self.seen(in: zone)
        let readers = try self.readers(of: subject, whoCame: seen.users)
        explanation.access = try self.access(to: subject, readers)
        let matches = try self.matches(of: subject, readers)
        explanation.matches = matches.listed
        let deliveries = try self.deliveries(of: subject, to: readers, seen)
        explanation.deliveries = Array(deliveries.prefix(Self.listedMax))
        explanation.isTruncated =
            seen.isTruncated || matches.isTruncated || deliveries.count > Self.listedMax
        return .success(explanation)
    }

    // MARK: Access

    private func access(
        to subject: Subject,
        _ readers: [ExplainedReader]
    ) throws(StorageFailure) -> [RecordExplanation.Access] {
        if self.seesAll {
            let report = try AccessReport(
                of: subject.id,
                in: self.requester,
                snapshot: self.snapshot
            )
            return (report?.lines ?? []).map {
                RecordExplanation.Access(who: $0.who, may: $0.may.rights, why: $0.why)
            }
        }
        guard let reader = readers.first else { return [] }
        return [RecordExplanation.Access(who: reader.name, may: reader.may.rights, why: reader.why)]
    }
}

extension Permissions {
    fileprivate var rights: RecordExplanation.Rights {
        var rights: RecordExplanation.Rights = []
        if self.contains(.read) { rights.insert(.read) }
        if self.contains(.create) { rights.insert(.create) }
        if self.contains(.write) { rights.insert(.write) }
        return rights
    }
}
