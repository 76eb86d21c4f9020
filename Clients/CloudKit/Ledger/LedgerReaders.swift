/// The readers of a feed, from the blocks of its ledger, without items.
///
/// Readers are recognised by the tokens that they bring back. A reader that starts without a token
/// makes a *run*. When the run has ended, the items that were reported before it and did not come
/// in it have vanished.
struct LedgerReaders: Sendable {
    struct Given: Sendable {
        let token: UInt64
        let run: UInt64
        /// The end of its block.
        let offset: Int
        /// Whether a token has expired since.
        var isOld = false
    }

    private static let tokensMax = 256
    private static let runsMax = 16

    private(set) var isDropped = false
    /// The size of the file when it was last rewritten.
    private(set) var rewrittenBytes = 0
    /// The offset of the first block of each run.
    private(set) var runs: [UInt64: Int] = [:]
    /// The size of the file when its first run had ended; `nil` if none has.
    private(set) var firstRunBytes: Int?
    /// In ascending order of age, the oldest first.
    private(set) var tokens: [Given] = []
    /// The offset of the last block that made tokens old; `nil` if no token has expired, ever.
    private(set) var expired: Int?

    func given(_ token: UInt64) -> Given? { self.tokens.last { $0.token == token } }

    /// Returns the run in which a token was handed out; `nil` if there was none.
    func run(of token: UInt64) -> UInt64? {
        guard let run = self.given(token)?.run else { return nil }
        return self.runs[run] == nil ? nil : run
    }

    /// Returns the size above which the file is to be rewritten, at most twice that of its items.
    ///
    /// The first run has each name once, so nothing is gained before its end.
    func bytesMax(_ itemBytesMax: Int) -> Int {
        if !self.runs.isEmpty, self.firstRunBytes == nil { return itemBytesMax }
        let current = max(self.rewrittenBytes, self.firstRunBytes ?? 0)
        return current + min(max(2 << 20, 3 * current), itemBytesMax)
    }

    mutating func apply(_ block: LedgerBlock) {
        if block.events.contains(.head) {
            self.isDropped = block.events.contains(.dropped)
            self.rewrittenBytes = Int(clamping: block.run)
            return
        }
        // A token from before the last expiry is no new event: its reader comes late.
        if block.events.contains(.expired), self.given(block.token)?.isOld != true {
            for index in self.tokens.indices { self.tokens[index].isOld = true }
            self.expired = block.range.lowerBound
        }
        if block.events.contains(.began) {
            self.runs[block.run] = block.range.lowerBound
            if self.runs.count > Self.runsMax, let oldest = self.runs.min(by: { $0.value < $1.value }) {
                self.runs[oldest.key] = nil
            }
        }
        if block.events.contains(.ended) { self.firstRunBytes = self.firstRunBytes ?? block.range.upperBound }
        if block.events.contains(.given) {
            self.tokens.removeAll { $0.token == block.next }
            let run = block.events.contains(.ended) ? 0 : block.run
            self.tokens.append(Given(token: block.next, run: run, offset: block.range.upperBound))
            if self.tokens.count > Self.tokensMax { self.tokens.removeFirst() }
        }
    }
}
