internal import Foundation
private import Synchronization

/// The items that the readers of one feed have got.
///
/// After a token has expired, the SDK finds out with it which items have vanished. The ledger is a
/// file to which each page is appended before its token is handed out. Names are only bytes until
/// a run ends and its reader has to get the vanished ones. The programs of one installation share
/// the file: each call locks it. The next call cuts off what a killed process did not finish.
///
/// - Bounds: The file is rewritten with its current items when it has grown by three times their
///   size, by at least 2 MiB and at most `bytesMax`. If they are larger than `bytesMax`, nothing
///   is kept until a reader starts again.
final class FeedLedger: Sendable {
    /// A page of the feed.
    struct Page: Sendable {
        /// The token of the request; empty for the feed's beginning.
        var token: [UInt8]
        /// The token for the next page.
        var next: [UInt8]
        var moreComing: Bool
        var names = LedgerNames()
        /// Whether the reader has come back with the token; `false` if the page was read ahead of
        /// the reports.
        var isReturn = true
        /// Whether vanished items are reported even if no token has expired.
        var reportsAlways = false
    }

    /// The part of the file that was read, without items.
    private struct Seen: Sendable {
        var file: [UInt8] = []
        var readers = LedgerReaders()
        var bytes = 0
        /// The size at which to rewrite the file again, if that has failed.
        var retryBytes = 0
    }

    private let path: String
    private let bytesMax: Int
    private let seen = Mutex(Seen())

    init(path: String, bytesMax: Int) {
        self.path = path
        self.bytesMax = bytesMax
    }

    /// Notes a page that is about to be reported.
    ///
    /// - Returns: The vanished items with their types, if the page is the last of a run.
    func take(_ page: Page) -> [(name: String, type: String)] {
        self.withFile { file, seen in
            var block = LedgerBlock(
                events: [],
                token: LedgerBlock.number(of: page.token),
                next: LedgerBlock.number(of: page.next)
            )
            if page.token.isEmpty {
                if seen.readers.isDropped, file.replace(with: []) { self.update(&seen, file) }
                block.events.insert(.began)
                block.run = .random(in: 1 ... .max)
            } else {
                block.run = seen.readers.run(of: block.token) ?? 0
            }
            let isNew = !page.names.isEmpty || page.next != page.token
            if page.isReturn, isNew, !page.token.isEmpty { block.events.insert(.returned) }
            if block.run != 0, !page.moreComing { block.events.insert(.ended) }
            // A reader of a feed without changes writes nothing.
            guard !seen.readers.isDropped, isNew || !block.events.isEmpty else { return [] }
            block.events.insert(.given)
            let bytes = block.bytes(names: page.names.bytes)
            var missing: [(name: String, type: String)] = []
            if block.events.contains(.ended), seen.readers.expired != nil || page.reportsAlways {
                let all = file.bytes() + bytes
                missing = LedgerContents(all)?.missing(in: block.run) ?? []
            }
            self.append(block, bytes, to: file, &seen)
            return missing
        } ?? []
    }

    /// Notes that the server found a token too old; `isReturn` is as that of a page.
    func expired(_ token: [UInt8], isReturn: Bool = true) {
        let block = LedgerBlock(
            events: isReturn ? [.returned, .expired] : .expired,
            token: LedgerBlock.number(of: token)
        )
        self.withFile { self.append(block, block.bytes(names: []), to: $0, &$1) }
    }

    /// Notes saves and deletions of this client, if the feed was read, or is sure to be.
    func saved(_ names: LedgerNames, isFollowed: Bool = false) {
        guard isFollowed || access(self.path, F_OK) == 0 else { return }
        let block = LedgerBlock(events: [])
        self.withFile { self.append(block, block.bytes(names: names.bytes), to: $0, &$1) }
    }

    /// Calls `body` with the locked file; `nil` if there can be none.
    @discardableResult
    private func withFile<Result>(_ body: (LedgerFile, inout Seen) -> Result) -> Result? {
        self.seen.withLock { seen in
            guard let file = LedgerFile(self.path) else { return nil }
            self.update(&seen, file)
            // A damaged end may stay if the disk fails.
            return seen.bytes == file.size ? body(file, &seen) : nil
        }
    }

    /// Reads what other processes have appended.
    private func update(_ seen: inout Seen, _ file: LedgerFile) {
        if seen.file != file.head || seen.bytes > file.size { seen = Seen(file: file.head) }
        guard seen.bytes < file.size else { return }
        var readers = seen.readers
        seen.bytes = LedgerBlock.read(file.bytes(from: seen.bytes), from: seen.bytes) { readers.apply($0) }
        seen.readers = readers
        // An unfinished write of a process counts as not begun.
        if seen.bytes < file.size { file.cut(at: seen.bytes) }
    }

    private func append(_ block: LedgerBlock, _ bytes: [UInt8], to file: LedgerFile, _ seen: inout Seen) {
        guard !seen.readers.isDropped else { return }
        let head = file.size == 0 ? LedgerBlock.head(rewrittenBytes: 0) : []
        guard file.append(head + bytes) else { return }
        var block = block
        block.range = seen.bytes..<file.size
        seen.readers.apply(block)
        seen.bytes = file.size
        guard file.size > max(seen.readers.bytesMax(self.bytesMax), seen.retryBytes) else { return }
        let all = file.bytes()
        let rest = LedgerContents(all)?.rewritten
        let isDropped = rest.map { $0.count > self.bytesMax } ?? true
        let newHead = LedgerBlock.head(rewrittenBytes: rest?.count ?? 0, isDropped: isDropped)
        if !file.replace(with: isDropped ? newHead : newHead + (rest ?? [])) {
            seen.retryBytes = 2 * file.size
        }
    }
}
