/// The feed of one zone as a follower has read it, compared with the knowledge of the writers.
///
/// A feed reports each change once, the later state after the earlier one. A follower that has come to the
/// end has every change that was acknowledged before it asked for the last page. A change at a position
/// that the token has passed would never come.
struct FollowedZone: Sendable {
    /// A key of a worker.
    struct KeyID: Hashable, Sendable {
        let worker: Int
        let key: Int
    }

    /// The keys of workers by the worker's number, at one time.
    typealias Knowledge = [Int: [KeyTable.Key]]

    let name: String
    /// The name of the follower in findings.
    let reading: String
    private let keyIDs: Set<KeyID>
    /// The version of each record according to the feed; 0 is absent.
    private var versions: [KeyID: UInt64] = [:]
    /// The latest version that ever came.
    private var latest: [KeyID: UInt64] = [:]

    /// Begins at a token of a time when nothing was written.
    ///
    /// - Parameters:
    ///   - name: The zone.
    ///   - reading: The name of the follower in findings.
    ///   - keyIDs: All keys of the zone, also those without a record.
    ///   - knowledge: The keys at the time of the token.
    init(_ name: String, reading: String, keyIDs: Set<KeyID>, knowledge: Knowledge) {
        self.name = name
        self.reading = reading
        self.keyIDs = keyIDs
        for keyID in keyIDs {
            guard let key = knowledge.key(at: keyID), key.acknowledged > 0 else { continue }
            self.versions[keyID] = key.acknowledged
            self.latest[keyID] = key.acknowledged
        }
    }

    /// Begins anew with an empty token.
    mutating func restart() { self.versions = [:] }

    /// Takes a whole page, and returns what is wrong with it.
    mutating func take(_ page: [ZoneComparison.Found]) -> [Violation] {
        var violations: [Violation] = []
        for record in page {
            guard let owner = KeyTable.owner(of: record.name) else {
                violations.append(self.violation(.unexpected, record.name, "absent", "a record"))
                continue
            }
            let keyID = KeyID(worker: owner.worker, key: owner.key)
            guard self.keyIDs.contains(keyID) else {
                violations.append(self.violation(.unexpected, record.name, "absent", "a record"))
                continue
            }
            guard let version = record.version else {
                violations.append(self.violation(.spoilt, record.name, "what was saved", "other contents"))
                continue
            }
            if let violation = self.take(version, keyID, record.name) { violations.append(violation) }
        }
        return violations
    }

    private mutating func take(_ version: UInt64, _ keyID: KeyID, _ name: String) -> Violation? {
        let before = self.versions[keyID] ?? 0
        let latest = self.latest[keyID] ?? 0
        self.versions[keyID] = version
        self.latest[keyID] = max(latest, version)
        // Two deletions with a save between them may come as the last one alone, or as both.
        guard version > 0 else { return nil }
        if version == before { return self.violation(.doubled, name, "once", Violation.text(version)) }
        // After a restart the same state comes again.
        guard version < latest else { return nil }
        return self.violation(.stale, name, "later than \(Violation.text(latest))", Violation.text(version))
    }

    /// Compares what has come with what must have come by the end of the feed.
    ///
    /// Only keys count that were not being written when the last page was requested, nor since.
    ///
    /// - Parameters:
    ///   - asked: The keys when the last page was requested.
    ///   - now: The keys after its response.
    /// - Returns: A finding for each change that is missing.
    mutating func reachedEnd(asked: Knowledge, now: Knowledge) -> [Violation] {
        var violations: [Violation] = []
        for keyID in self.keyIDs {
            guard let known = asked.key(at: keyID), known.pending == nil,
                now.key(at: keyID)?.changedAt == known.changedAt
            else { continue }
            let version = self.versions[keyID] ?? 0
            guard !known.permits(version) else { continue }
            let expected = ([known.acknowledged] + known.uncertain).map { Violation.text($0) }
            violations.append(
                self.violation(
                    .unseen,
                    KeyTable.recordName(keyID.key, of: keyID.worker),
                    expected.joined(separator: " or "),
                    Violation.text(version)
                )
            )
            // Once is enough.
            self.versions[keyID] = known.acknowledged
        }
        return violations
    }

    private func violation(
        _ kind: Violation.Kind,
        _ recordName: String,
        _ expected: String,
        _ found: String
    ) -> Violation {
        Violation(
            kind: kind,
            zone: self.name,
            recordName: recordName,
            expected: expected,
            found: found,
            reading: self.reading
        )
    }
}

extension FollowedZone.Knowledge {
    fileprivate func key(at keyID: FollowedZone.KeyID) -> KeyTable.Key? {
        guard let keys = self[keyID.worker], keys.indices.contains(keyID.key) else { return nil }
        return keys[keyID.key]
    }
}
