/// The readers and the items that all blocks of a ledger add up to.
///
/// Readers get vanished items only after a token has expired. A vanished item stays listed until a
/// token expires that was handed out after the run that missed it: its reader has got it.
struct LedgerContents {
    /// An item that was reported to readers, by offsets in the file; 0 if there is none.
    private struct Item {
        /// The entry that reported it last, and that of its type.
        var entry: Int
        var type: Int
        /// The block of the run that found that it has vanished.
        var lost = 0
        /// The entry of the feed's deletion.
        var deleted = 0
    }

    private let bytes: [UInt8]
    private var readers = LedgerReaders()
    private let seed = UInt64.random(in: .min ... .max)
    /// The items by the hashes of their names.
    ///
    /// Of a million names two have the same once in 30 million times: one deletion is not reported.
    private var items: [UInt64: Item] = [:]
    /// Items with a reported deletion, and some that have come again.
    private var deletions: Set<UInt64> = []

    /// Reads the bytes of a file; `nil` if a part of them is damaged.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard LedgerBlock.read(bytes, { self.apply($0) }) == bytes.count else { return nil }
    }

    private mutating func apply(_ block: LedgerBlock) {
        let given = self.readers.given(block.token)
        self.readers.apply(block)
        if let given, block.events.contains(.returned) { self.forgetDeletions(before: given.offset) }
        if let given, !given.isOld, block.events.contains(.expired) {
            self.items = self.items.filter { !(1..<given.offset ~= $0.value.lost) }
        }
        self.list(block.names)
        if block.events.contains(.ended), let start = self.readers.runs[block.run] {
            // Another reader may still have an item, and gets it in its own run.
            for (hash, item) in self.items where item.entry < start && item.lost == 0 {
                self.items[hash]?.lost = block.range.lowerBound
            }
        }
    }

    private mutating func list(_ names: Range<Int>) {
        var type = 0
        LedgerNames.read(self.bytes, names) { entry in
            if entry.kind == .type { return type = entry.offset }
            let hash = LedgerBlock.hash(of: self.bytes, entry.text, seed: self.seed)
            switch entry.kind {
            case .type: break
            case .reported: self.items[hash] = Item(entry: entry.offset, type: type)
            case .deleted:
                guard self.items[hash]?.lost == 0 else { break }
                self.items[hash]?.deleted = entry.offset
                self.deletions.insert(hash)
            case .removed: self.items[hash] = nil
            }
        }
    }

    /// Forgets the deletions that a reader knows which has come back with a token.
    private mutating func forgetDeletions(before offset: Int) {
        for hash in self.deletions {
            let deleted = self.items[hash]?.deleted ?? 0
            guard deleted < offset else { continue }
            if deleted > 0 { self.items[hash] = nil }
            self.deletions.remove(hash)
        }
    }

    /// Returns the items that were reported before a run and did not come in it, by name.
    func missing(in run: UInt64) -> [(name: String, type: String)] {
        guard let start = self.readers.runs[run] else { return [] }
        return self.items.values.filter { $0.entry < start }
            .map { (name: self.text(at: $0.entry), type: self.text(at: $0.type)) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private func text(at offset: Int) -> String {
        LedgerNames.Entry(in: self.bytes, offset..<self.bytes.count)
            .map { String(decoding: self.bytes[$0.text], as: UTF8.self) } ?? ""
    }

    /// The bytes without their head and all that no longer matters.
    ///
    /// The ends of runs that are forgotten are left out. So items that these found lost are found
    /// lost again by a later run, and reported longer.
    var rewritten: [UInt8] {
        let deletions = self.items.values.lazy.map(\.deleted).filter { $0 > 0 }
        let current = (self.items.values.map(\.entry) + deletions).sorted()
        var next = 0
        let given = Set(self.readers.tokens.map(\.offset))
        var rewritten: [UInt8] = []
        var names = LedgerNames()
        func finish(_ block: LedgerBlock) {
            rewritten += block.bytes(names: names.bytes)
            names = LedgerNames()
        }
        _ = LedgerBlock.read(self.bytes) { block in
            var block = block
            block.events.formIntersection([.began, .ended, .given, .expired])
            if self.readers.runs[block.run] == nil { block.events.subtract([.began, .ended]) }
            if self.readers.expired != block.range.lowerBound { block.events.remove(.expired) }
            if !given.contains(block.range.upperBound) { block.events.remove(.given) }
            // Names of blocks without events need no blocks of their own.
            if !block.events.isEmpty, !names.isEmpty { finish(LedgerBlock(events: [])) }
            var type: LedgerNames.Entry?
            LedgerNames.read(self.bytes, block.names) { entry in
                if entry.kind == .type { type = entry }
                guard next < current.count, current[next] == entry.offset else { return }
                next += 1
                if let type, entry.kind == .reported { names.add(self.bytes[type.text], as: .type) }
                type = nil
                names.add(self.bytes[entry.text], as: entry.kind)
            }
            if !block.events.isEmpty { finish(block) }
        }
        if !names.isEmpty { finish(LedgerBlock(events: [])) }
        return rewritten
    }
}
