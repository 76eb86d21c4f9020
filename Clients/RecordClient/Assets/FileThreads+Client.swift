package import FileIO

extension FileThreads {
    /// More disks than these at a time make no transfer faster.
    private static let countMax = 4

    /// Threads of this process that read, write and hash files.
    ///
    /// They live as long as the process.
    package static let shared = Self.started(.normal)

    /// Threads of this process that move the bytes of transfers.
    ///
    /// Connections and the program itself go first. The jobs end on event loops and resume no task.
    package static let transfers = Self.started(.low)

    private static func started(_ priority: Priority) -> FileThreads {
        let threads = FileThreads(count: Self.countMax, priority: priority)
        threads.start()
        return threads
    }
}
