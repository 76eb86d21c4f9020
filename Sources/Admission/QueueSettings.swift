/// How much waits for the threads of an engine, and how much one commit takes.
package struct QueueSettings: Hashable, Sendable {
    /// Beyond these, changes are refused with a time to come back.
    package var waitingRequestsMax = 4_096
    package var waitingBytesMax = 64 * 1_024 * 1_024
    /// Work that may wait for the writer, and for the threads that read, as the time that it takes.
    package var writerWaitNanoseconds: Int64 = 10_000_000
    package var readerWaitNanoseconds: Int64 = 25_000_000
    /// Records and bytes that one transaction takes from the queue.
    package var commitRecordsMax = 4_000
    package var commitBytesMax = 8 * 1_024 * 1_024
    /// Threads for searches, and as many for all other reads that are not short.
    package var readThreads = 2

    package init() {}
}
