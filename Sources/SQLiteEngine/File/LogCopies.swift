import Synchronization

/// Counts the checkpoints of the log, for connections that read.
///
/// SQLite maps the file at its size when a connection first reads from it, and maps it again after
/// a commit of another connection. A checkpoint makes the file longer without a commit. Until the
/// next commit, SQLite would read each page beyond the old end with a system call. In a store that
/// is filled once and then read, that commit may never come.
final class LogCopies: Sendable {
    private let count = Atomic<Int>(0)

    /// Number of checkpoints so far.
    var number: Int { self.count.load(ordering: .acquiring) }

    /// Called when the file has reached its new size.
    func happened() { self.count.add(1, ordering: .releasing) }
}
