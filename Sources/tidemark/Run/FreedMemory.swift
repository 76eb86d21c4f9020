import CMalloc

/// Memory that the server has freed: how much of it stays with the process.
enum FreedMemory {
    /// A block of at least 1 MiB goes back to the kernel when it is freed.
    private static let returnedBytes: CInt = 1 << 20
    /// Each part of the heap gives back what is free at its end when that is more than 16 MiB.
    ///
    /// With 8 MiB a page of changes still took a tenth longer; with 32 MiB, 32 uploads and downloads took
    /// more than 64 MiB.
    private static let keptBytes: CInt = 16 << 20

    /// Keeps memory of requests for the requests that follow.
    ///
    /// The C library begins with bounds of 128 KiB, and raises both when a large block is freed. A
    /// response with a page of records has that size. So a server that had only read since its start
    /// got memory from the kernel for each of them, and the kernel cleared it: a quarter of the time
    /// of a page of changes. With these bounds it never does, whatever came before.
    ///
    /// - Returns: Whether the C library has taken both bounds.
    @discardableResult
    static func keep() -> Bool {
        mallopt(M_MMAP_THRESHOLD, self.returnedBytes) == 1 && mallopt(M_TRIM_THRESHOLD, self.keptBytes) == 1
    }
}
