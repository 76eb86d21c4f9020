import Synchronization

/// Copies of the log into the file, of which connections that read have to know.
///
/// SQLite maps as much of the file as there is when a connection first reads from it, and maps it
/// anew after somebody's commit. A copy makes the file longer without a commit. Until the next
/// commit, SQLite would read each page behind the old end with a system call. In a store that is
/// filled once and then read, that commit may never come.
final class LogCopies: Sendable {
    private let count = Atomic<Int>(0)

    /// How many there were.
    var number: Int { self.count.load(ordering: .acquiring) }

    /// To be called when the file is as long as it will be.
    func happened() { self.count.add(1, ordering: .releasing) }
}
