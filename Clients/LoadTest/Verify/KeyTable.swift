import RecordModel

/// The keys of one connection, and what is known of each record.
///
/// A key has one writer, and at most one write at a time. So each reading has exactly one right
/// result, or several after a write of unknown effect. If such a write may still take effect,
/// the key is not written again until a reading has shown that it did.
struct KeyTable: Sendable {
    enum Kind: CaseIterable, Sendable {
        case plain
        case push
        case sync
        case asset

        var recordType: String {
            switch self {
            case .plain: "LoadItem"
            case .push: "LoadPush"
            case .sync: "LoadSync"
            case .asset: "LoadFile"
            }
        }
    }

    /// The state of a record: 0 is absent, and every save is one more than all before it.
    typealias Version = UInt64

    struct Key: Sendable {
        /// The last acknowledged write.
        var acknowledged: Version = 0
        /// Later writes of unknown effect.
        var uncertain: [Version] = []
        /// A write without a response yet.
        var pending: Version?
        /// The version of the last save that was begun.
        var latest: Version = 0
        /// When a write was last begun or ended, in ticks of the table.
        var changedAt: UInt64 = 0
        /// When a write was last acknowledged, in ticks of the table.
        var writtenAt: UInt64 = 0
        /// Whether a write without a response may still take effect later.
        var isRetired = false

        var mayBeWritten: Bool { self.pending == nil && !self.isRetired }

        func permits(_ version: Version) -> Bool {
            version == self.acknowledged || self.uncertain.contains(version)
        }
    }

    /// How a write ended.
    enum Fate: Sendable {
        case written
        /// The server decided, and wrote nothing.
        case notWritten
        /// It may have been written when it was first sent, and will not be any more.
        case unknown
        /// It may have been written, and may still be.
        case undecided
    }

    /// Unique in the run, over all its processes.
    let worker: Int
    private(set) var keys: [Key]
    /// Rises with every change.
    private(set) var ticks: UInt64 = 0
    private let plain: Int
    private let special: Int

    /// - Parameters:
    ///   - worker: Unique in the run, over all its processes.
    ///   - plain: Number of keys of ordinary records.
    ///   - special: Number of keys of each other kind.
    init(worker: Int, plain: Int, special: Int) {
        self.worker = worker
        self.plain = plain
        self.special = special
        self.keys = Array(repeating: Key(), count: plain + 3 * special)
    }

    func range(of kind: Kind) -> Range<Int> {
        switch kind {
        case .plain: 0..<self.plain
        case .push: self.plain..<self.plain + self.special
        case .sync: self.plain + self.special..<self.plain + 2 * self.special
        case .asset: self.plain + 2 * self.special..<self.plain + 3 * self.special
        }
    }

    func kind(of key: Int) -> Kind {
        Kind.allCases.first { self.range(of: $0).contains(key) } ?? .plain
    }

    // MARK: Names

    /// The first part scatters the names of neighbouring keys over the database's trees.
    static func recordName(_ key: Int, of worker: Int) -> String {
        let scatter = SplitMix64.mix(UInt64(worker) << 32 | UInt64(key)) & 0xFFFF_FFFF
        let digits = String(scatter, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits + "-\(worker)-\(key)"
    }

    /// The worker and the key of a name, or `nil` if it is not a name of ours.
    static func owner(of recordName: String) -> (worker: Int, key: Int)? {
        let parts = recordName.split(separator: "-")
        guard parts.count == 3, parts[0].utf8.count == 8, let worker = Int(parts[1]), let key = Int(parts[2])
        else { return nil }
        return (worker, key)
    }

    // MARK: Writes

    /// A key that may be written: the drawn one or the next one after it.
    func writable(_ drawn: Int, _ kind: Kind) -> Int? {
        let range = self.range(of: kind)
        guard !range.isEmpty else { return nil }
        for offset in 0..<min(range.count, 1_000) {
            let key = range.lowerBound + (drawn + offset) % range.count
            if self.keys[key].mayBeWritten { return key }
        }
        return nil
    }

    /// - Returns: The version that the save writes.
    mutating func beginSave(_ key: Int) -> Version {
        self.keys[key].latest += 1
        self.change(key) { $0.pending = $0.latest }
        return self.keys[key].latest
    }

    mutating func beginDelete(_ key: Int) {
        self.change(key) { $0.pending = 0 }
    }

    /// Keeps writes away from a key that is read in several steps, until `ended`.
    mutating func hold(_ key: Int) {
        self.change(key) { $0.pending = $0.acknowledged }
    }

    /// Ends a write.
    ///
    /// If `isAwaited` and it was written, a notification of it is due. Until that calls `ended`
    /// again, the key is not written.
    mutating func ended(_ key: Int, _ fate: Fate, isAwaited: Bool = false) {
        let now = self.ticks + 1
        self.change(key) { key in
            guard let pending = key.pending else { return }
            key.pending = nil
            switch fate {
            case .written:
                key.acknowledged = pending
                key.uncertain = []
                key.writtenAt = now
                if isAwaited { key.pending = pending }
            case .notWritten: break
            case .unknown: key.uncertain.append(pending)
            case .undecided:
                key.uncertain.append(pending)
                key.isRetired = true
            }
        }
    }

    private mutating func change(_ key: Int, _ body: (inout Key) -> Void) {
        self.ticks += 1
        body(&self.keys[key])
        self.keys[key].changedAt = self.ticks
    }

    // MARK: Readings

    /// Compares a reading with what is known.
    ///
    /// `ticks` are those of the table when the request was sent.
    ///
    /// - Returns: The permitted versions, the acknowledged one first; `nil` if the reading is
    ///   right, or the key was being written.
    mutating func found(_ version: Version, _ key: Int, since ticks: UInt64) -> [Version]? {
        let known = self.keys[key]
        guard known.pending == nil, known.changedAt <= ticks else { return nil }
        guard known.permits(version) else { return [known.acknowledged] + known.uncertain }
        if !known.isRetired || (version == known.uncertain.last && version != known.acknowledged) {
            // The reading resolves the doubt.
            self.keys[key].acknowledged = version
            self.keys[key].uncertain = []
            self.keys[key].isRetired = false
        }
        return nil
    }
}
