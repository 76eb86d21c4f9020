internal import Foundation
private import Synchronization

/// The items that the readers of one feed were told of.
///
/// After a token has expired, the SDK finds out with it which items have vanished. The ledger is a
/// file to which each page is appended before its token is handed out. The programs of one
/// installation share it: each call locks it. The next call cuts off what a killed process did not
/// finish.
///
/// - Bounds: The file is rewritten with its current items when it has doubled. If these are more
///   than `bytesMax`, nothing is kept until a reader starts again.
final class FeedLedger: Sendable {
    /// A page of the feed.
    struct Page: Sendable {
        /// The token of the request; empty for the feed's beginning.
        var token: [UInt8]
        /// The token for the next page.
        var next: [UInt8]
        var moreComing: Bool
        /// The names on the page, by type.
        var told: [String: [String]] = [:]
        var deleted: [String] = []
        /// Whether the reader has come back with the token; `false` if the page was read ahead of
        /// the reports.
        var isReturn = true
        /// Whether vanished items are reported even if no token has expired.
        var reportsAlways = false
    }

    private struct Seen: Sendable {
        var file: [UInt8]
        var fold: LedgerFold
        var bytes: Int
    }

    /// Below this size, rewriting a file gains nothing.
    private static let compactedBytesMin = 64 << 10

    private let path: String
    private let bytesMax: Int
    /// What is known of the file, without names.
    private let seen = Mutex<Seen?>(nil)

    init(path: String, bytesMax: Int) {
        self.path = path
        self.bytesMax = bytesMax
    }

    /// Notes a page that is about to be reported.
    ///
    /// - Returns: The vanished items with their types, if the page is the last of a run.
    func take(_ page: Page) -> [(name: String, type: String)] {
        guard let file = self.open() else { return [] }
        var fold = self.current(file)
        var run = fold.run(of: LedgerEntry.number(of: page.token))
        var entries: [LedgerEntry] = []
        if page.token.isEmpty {
            if fold.isDropped {
                file.replace(with: [])
                fold = self.current(file)
            }
            let number = UInt64.random(in: 1 ... .max)
            run = number
            entries.append(.began(run: number))
        }
        guard !fold.isDropped else { return [] }
        let isNews = !page.told.isEmpty || !page.deleted.isEmpty || page.next != page.token
        if page.isReturn, isNews, !page.token.isEmpty {
            entries.append(.returned(token: LedgerEntry.number(of: page.token)))
        }
        entries += page.told.sorted { $0.key < $1.key }.map { .told($0.value, type: $0.key) }
        if !page.deleted.isEmpty { entries.append(.deleted(page.deleted)) }
        var missing: [(name: String, type: String)] = []
        if let run, !page.moreComing {
            if fold.hasExpired || page.reportsAlways {
                var names = file.fold(withNames: true)
                for entry in entries { names.apply(entry) }
                missing = names.missing(in: run)
            }
            entries.append(.ended(run: run))
        }
        // A reader of a feed without changes writes nothing.
        guard !entries.isEmpty || page.next != page.token else { return [] }
        entries.append(.given(token: LedgerEntry.number(of: page.next), run: page.moreComing ? run ?? 0 : 0))
        self.append(entries, to: file, fold)
        return missing
    }

    /// Notes that the server found a token too old; `isReturn` is as that of a page.
    func expired(_ token: [UInt8], isReturn: Bool = true) {
        guard let file = self.open() else { return }
        let fold = self.current(file)
        guard !fold.isDropped else { return }
        let number = LedgerEntry.number(of: token)
        self.append((isReturn ? [.returned(token: number)] : []) + [.expired(token: number)], to: file, fold)
    }

    /// Notes saves and deletions of this client, if the feed was read, or is sure to be.
    func saved(_ told: [String: [String]], deleted: [String], isFollowed: Bool = false) {
        guard isFollowed || access(self.path, F_OK) == 0, let file = self.open() else { return }
        let fold = self.current(file)
        guard !fold.isDropped else { return }
        var entries: [LedgerEntry] = told.sorted { $0.key < $1.key }.map { .told($0.value, type: $0.key) }
        if !deleted.isEmpty { entries.append(.removed(deleted)) }
        self.append(entries, to: file, fold)
    }

    private func open() -> LedgerFile? { LedgerFile(self.path) }

    /// Returns the state of the file, after reading what other processes have appended.
    private func current(_ file: LedgerFile) -> LedgerFold {
        self.seen.withLock { seen in
            var now =
                seen.flatMap { $0.file == file.head && $0.bytes <= file.bytes ? $0 : nil }
                ?? Seen(file: file.head, fold: LedgerFold(withNames: false), bytes: 0)
            now.bytes = file.read(from: now.bytes, withNames: false) { now.fold.apply($0) }
            // An unfinished write of a process counts as not begun.
            if now.bytes < file.bytes { file.cut(at: now.bytes) }
            seen = now
            return now.fold
        }
    }

    private func append(_ entries: [LedgerEntry], to file: LedgerFile, _ fold: LedgerFold) {
        guard file.append(LedgerEntry.block(entries)) else { return }
        self.seen.withLock { seen in
            for entry in entries { seen?.fold.apply(entry) }
            seen?.bytes = file.bytes
        }
        guard file.bytes > max(Self.compactedBytesMin, 2 * fold.compactedBytes) else { return }
        let rest = LedgerEntry.block(file.fold(withNames: true).entries)
        let head = LedgerEntry.block([
            .compacted(bytes: UInt64(rest.count), file: .random(in: .min ... .max))
        ])
        file.replace(with: rest.count > self.bytesMax ? LedgerEntry.block([.dropped]) : head + rest)
    }
}

/// A ledger's file, locked for as long as this exists.
private final class LedgerFile {
    private let path: String
    private let lock: FolderLock
    private var descriptor: Int32
    private(set) var bytes = 0
    /// The head of the first block, which reveals that another process has replaced the file.
    private(set) var head: [UInt8] = []

    /// Opens the file; `nil` if none can be kept there.
    init?(_ path: String) {
        guard let lock = FolderLock(path + ".lock", isExclusive: true, waits: true) else { return nil }
        self.path = path
        self.lock = lock
        self.descriptor = -1
        guard self.look() else { return nil }
    }

    deinit { if self.descriptor >= 0 { close(self.descriptor) } }

    private func look() -> Bool {
        if self.descriptor >= 0 { close(self.descriptor) }
        self.descriptor = open(self.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        var status = stat()
        guard self.descriptor >= 0, fstat(self.descriptor, &status) == 0 else { return false }
        self.bytes = Int(status.st_size)
        self.head = self.bytes(at: 0, count: min(self.bytes, LedgerEntry.headBytes))
        return true
    }

    private func bytes(at offset: Int, count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var read = 0
        while read < count {
            let descriptor = self.descriptor
            // SAFETY: reads into the array's own memory, no further than its end.
            let got = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress.map { $0 + read }, count - read, off_t(offset + read))
            }
            guard got > 0 else { break }
            read += got
        }
        bytes.removeLast(count - read)
        return bytes
    }

    /// Reads entries.
    ///
    /// - Returns: The end of the valid ones.
    func read(from offset: Int, withNames: Bool, _ take: (LedgerEntry) -> Void) -> Int {
        guard offset < self.bytes else { return offset }
        let bytes = self.bytes(at: offset, count: self.bytes - offset)
        return offset + LedgerEntry.read(bytes, withNames: withNames, take)
    }

    func fold(withNames: Bool) -> LedgerFold {
        var fold = LedgerFold(withNames: withNames)
        _ = self.read(from: 0, withNames: withNames) { fold.apply($0) }
        return fold
    }

    func cut(at offset: Int) {
        if ftruncate(self.descriptor, off_t(offset)) == 0 { self.bytes = offset }
    }

    /// - Returns: Whether all of it was written.
    func append(_ block: [UInt8]) -> Bool {
        let start = self.bytes
        guard self.write(block, to: self.descriptor, at: start) else {
            self.cut(at: start)
            return false
        }
        self.bytes += block.count
        return true
    }

    /// Replaces the file, completely or not at all.
    func replace(with block: [UInt8]) {
        let path = self.path + ".new"
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let isWritten = self.write(block, to: descriptor, at: 0) && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(path, self.path) == 0, self.look() else {
            unlink(path)
            return
        }
    }

    private func write(_ block: [UInt8], to descriptor: Int32, at offset: Int) -> Bool {
        var written = 0
        while written < block.count {
            // SAFETY: reads the array's own memory, no further than its end.
            let count = block.withUnsafeBytes { buffer in
                pwrite(
                    descriptor,
                    buffer.baseAddress.map { $0 + written },
                    buffer.count - written,
                    off_t(offset + written)
                )
            }
            guard count > 0 else { return false }
            written += count
        }
        return true
    }
}
