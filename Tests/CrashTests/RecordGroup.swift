import RecordClient
import RecordModel
import WireProtocol

/// Records that are always saved together, all with the same version, and what is known about them.
struct RecordGroup: Sendable {
    static let zone = ZoneID(zoneName: "crash")
    static let recordType = "Item"

    struct State: Hashable, Sendable {
        var version: Int64
        /// Change tags by position in the group.
        var tags: [String]
    }

    let ids: [RecordID]
    /// What the server has answered.
    var acknowledged: State?
    /// Sent, and not answered.
    var pendingVersion: Int64?

    init(name: String, size: Int) {
        self.ids = (0..<size).map { RecordID(zone: Self.zone, recordName: "\(name)-\($0)") }
    }

    /// A save of the next version, which fails unless the server has what was acknowledged last:
    /// executed twice, it fails the second time.
    mutating func nextSave() -> Operation {
        let version = (self.acknowledged?.version ?? 0) + 1
        self.pendingVersion = version
        let saves = self.ids.enumerated().map { index, id in
            RecordSave(
                id: id,
                recordType: Self.recordType,
                changeTag: self.acknowledged?.tags[index],
                changes: RecordBody([
                    Field(
                        name: "filling",
                        value: .bytes([UInt8](repeating: UInt8(version & 0xFF), count: 400))
                    ),
                    Field(name: "version", value: .int64(version)),
                ])
            )
        }
        return .modifyRecords(ModifyRecords(scope: .private, saves: saves))
    }

    /// Takes the answer to the last save.
    mutating func answered(_ outcomes: [UInt32: ItemOutcome]) throws {
        let tags = try self.ids.indices.map { index in
            guard case .recordSaved(let saved)? = outcomes[UInt32(index)] else {
                throw Flaw.saveRefused(self.ids[index].recordName, outcomes[UInt32(index)])
            }
            return saved.changeTag
        }
        self.acknowledged = self.pendingVersion.map { State(version: $0, tags: tags) }
        self.pendingVersion = nil
    }

    /// What the server has now, or `nil` if it has nothing.
    func fetched(by client: RecordClient) async throws -> State? {
        let fetch = Operation.fetchRecords(FetchRecords(scope: .private, ids: self.ids))
        let outcomes = try await client.perform(fetch, timeout: .seconds(30))
        var records: [Record] = []
        for (index, outcome) in outcomes {
            switch outcome {
            case .record(let message): records.append(try message.record())
            case .failure(let failure) where failure.code == .unknownItem: continue
            case .failure(let failure) where failure.code == .zoneNotFound: continue
            default:
                throw Flaw.unreadable(self.ids[Int(index)].recordName)
            }
        }
        guard let first = records.first else { return nil }
        guard records.count == self.ids.count else { throw Flaw.partOfABatch(first.id.recordName) }
        let versions = Set(try records.map { try $0.version })
        guard let version = versions.first, versions.count == 1 else {
            throw Flaw.partOfABatch(first.id.recordName)
        }
        let tags = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0.changeTag) })
        return State(version: version, tags: self.ids.compactMap { tags[$0] })
    }

    /// Compares what the server has with what it may have, and goes on from there.
    mutating func recovered(_ state: State?) throws {
        let name = self.ids[0].recordName
        if state == self.acknowledged {
            self.pendingVersion = nil
            return
        }
        guard let state, let pending = self.pendingVersion, state.version == pending else {
            throw Flaw.lostOrInvented(
                name,
                has: state,
                acknowledged: self.acknowledged,
                pending: self.pendingVersion
            )
        }
        self.acknowledged = state
        self.pendingVersion = nil
    }
}

/// What must not be after a crash.
enum Flaw: Error {
    case saveRefused(String, ItemOutcome?)
    case unreadable(String)
    case partOfABatch(String)
    case lostOrInvented(String, has: RecordGroup.State?, acknowledged: RecordGroup.State?, pending: Int64?)
}

extension Record {
    fileprivate var version: Int64 {
        get throws {
            for field in self.body.fields {
                if field.name == "version", case .int64(let version) = field.value { return version }
            }
            throw Flaw.unreadable(self.id.recordName)
        }
    }
}
