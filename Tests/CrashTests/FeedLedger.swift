import RecordModel
import Synchronization

/// What the writers know: what was acknowledged, when it was sent and when answered.
///
/// Times are ticks of one counter. Each record has one writer, so that of two of its changes one
/// was answered before the other was sent; zones are deleted by anybody at any time.
final class FeedLedger: Sendable {
    private struct Entry {
        /// `nil` if absent.
        var content: Content?
        /// When the change that made it so was sent and answered.
        var sent = 0
        var answered = 0
        /// A change was sent, and is not answered.
        var isOpen = false
    }

    private struct ZoneChange {
        var isDeletion: Bool
        var sent: Int
        /// `nil` before that.
        var answered: Int?
        /// `nil` if it is unknown.
        var didHappen: Bool?
    }

    private struct State {
        var tick = 0
        var entries: [RecordID: Entry] = [:]
        var zoneChanges: [ZoneID: [ZoneChange]] = [:]
        var positionMax: Int64 = 0

        mutating func next() -> Int {
            self.tick += 1
            return self.tick
        }
    }

    private let state = Mutex(State())

    /// Now, and a position that the database has reached.
    func now() -> (tick: Int, position: Int64) { self.state.withLock { ($0.next(), $0.positionMax) } }

    // MARK: Records

    /// A change of some of these is sent.
    func open(_ ids: [RecordID]) -> Int {
        self.state.withLock { state in
            for id in ids { state.entries[id, default: Entry()].isOpen = true }
            return state.next()
        }
    }

    /// What became of it: those that are not named are as before.
    func close(_ ids: [RecordID], _ changes: [RecordID: Content?], sent: Int) {
        self.state.withLock { state in
            let now = state.next()
            for id in ids { state.entries[id]?.isOpen = false }
            for (id, content) in changes {
                state.entries[id] = Entry(content: content, sent: sent, answered: now)
                state.positionMax = max(state.positionMax, content?.position ?? 0)
            }
        }
    }

    /// The last known contents of records that are not known to be absent.
    func contents(in zone: ZoneID, named names: [String] = FeedData.names) -> [String: Content] {
        self.state.withLock { state in
            var contents: [String: Content] = [:]
            for name in names {
                contents[name] = state.entries[RecordID(zone: zone, recordName: name)]?.content
            }
            return contents
        }
    }

    // MARK: Zones

    /// A creation or deletion is sent.
    ///
    /// - Returns: A number for `answered`.
    func sendZoneChange(_ zone: ZoneID, isDeletion: Bool) -> Int {
        self.state.withLock { state in
            let change = ZoneChange(isDeletion: isDeletion, sent: state.next())
            state.zoneChanges[zone, default: []].append(change)
            return state.zoneChanges[zone]!.count - 1
        }
    }

    func answered(_ zone: ZoneID, _ number: Int, didHappen: Bool?) {
        self.state.withLock { state in
            state.zoneChanges[zone]![number].answered = state.next()
            state.zoneChanges[zone]![number].didHappen = didHappen
        }
    }

    /// Whether the zone may have been deleted after a tick.
    func mayBeDeleted(_ zone: ZoneID, after tick: Int) -> Bool {
        self.state.withLock { Self.mayBeDeleted(zone, after: tick, $0) }
    }

    private static func mayBeDeleted(_ zone: ZoneID, after tick: Int, _ state: State) -> Bool {
        (state.zoneChanges[zone] ?? []).contains { change in
            change.isDeletion && change.didHappen != false && change.answered ?? .max > tick
        }
    }

    /// Whether who asked at a tick may find no zone.
    func mayBeMissing(_ zone: ZoneID, at tick: Int) -> Bool {
        self.state.withLock { state in
            let changes = state.zoneChanges[zone] ?? []
            return changes.contains { deletion in
                guard deletion.isDeletion, deletion.didHappen != false else { return false }
                guard let deleted = deletion.answered else { return true }
                return !changes.contains { creation in
                    !creation.isDeletion && creation.didHappen == true && creation.sent > deleted
                        && creation.answered ?? .max < tick
                }
            }
        }
    }

    // MARK: What must be

    /// What is wrong with the view of a reader that asked at a tick, or `nil` if nothing is, or if it may
    /// have changed meanwhile.
    func fault(_ id: RecordID, _ seen: Content?, askedAt tick: Int) -> String? {
        self.state.withLock { Self.fault(id, seen, askedAt: tick, $0) }
    }

    private static func fault(
        _ id: RecordID,
        _ seen: Content?,
        askedAt tick: Int,
        _ state: State
    ) -> String? {
        guard let entry = state.entries[id] else {
            return seen == nil ? nil : "\(id.recordName) was never saved"
        }
        guard !entry.isOpen, entry.answered < tick else { return nil }
        guard let content = entry.content else {
            return seen == nil ? nil : "\(id.recordName) was deleted"
        }
        if seen == nil {
            return self.mayBeDeleted(id.zone, after: entry.sent, state) ? nil : "\(id.recordName) is lost"
        }
        let isGone = (state.zoneChanges[id.zone] ?? []).contains { change in
            change.isDeletion && change.didHappen == true && change.sent > entry.answered
                && change.answered ?? .max < tick
        }
        if isGone { return "\(id.recordName) went with its zone" }
        return seen == content ? nil : "\(id.recordName) is \(seen!.position), not \(content.position)"
    }

    /// What is wrong with all that a reader has of a zone after asking at a tick.
    ///
    /// The reader need not know of changes that were sent before `since`.
    func faults(
        _ zone: ZoneID,
        _ seen: [String: Content],
        askedAt tick: Int,
        since: Int = 0
    ) -> [String] {
        self.state.withLock { state in
            FeedData.names.compactMap { name in
                let id = RecordID(zone: zone, recordName: name)
                if seen[name] == nil, state.entries[id]?.sent ?? 0 <= since { return nil }
                return Self.fault(id, seen[name], askedAt: tick, state)
            }
        }
    }

    /// Records that went with the zone though one that was saved earlier is still there: a zone
    /// goes as a whole.
    func leftBehind(_ zone: ZoneID, _ seen: [String: Content]) -> [String] {
        let known = self.contents(in: zone)
        guard let oldest = seen.filter({ known[$0.key] != nil }).values.map(\.position).min() else {
            return []
        }
        return known.filter { seen[$0.key] == nil && $0.value.position > oldest }.keys.sorted()
    }
}
