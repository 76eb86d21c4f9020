import StorageContract

/// Compares all pages of a store with their checksums, a few at a time, beside the server that writes them.
struct PageVerification {
    private static let pieceMax = 64
    /// Pages that are compared once more; a disk with more wrong ones needs no longer list.
    private static let suspectsMax = 1_000
    private static let retriesMax = 3

    let pages: any StorePages
    let pace: WorkPace
    /// Between two looks at a wrong page: a checkpoint may have been writing it.
    var retryAfter = Duration.seconds(10)

    /// - Returns: The numbers of pages that stay wrong, and how many were compared.
    /// - Throws: `StoreCopyError`, `CancellationError`.
    func run(after last: Int, reached: (Int) async -> Void) async throws -> (wrong: [Int], compared: Int) {
        var (next, suspects): (Int, [Int]) = (last + 1, [])
        while suspects.count < Self.suspectsMax {
            let (compared, isWrong) = try self.pages.compare(from: next, count: Self.pieceMax)
            next += compared
            if isWrong { suspects.append(next - 1) }
            guard compared > 0 else { break }
            try await self.pace.wait(after: compared * self.pages.pageBytes)
            // Wrong pages are looked at again by a run that goes on here.
            await reached((suspects.first ?? next) - 1)
        }
        for _ in 0..<Self.retriesMax where !suspects.isEmpty {
            try await Task.sleep(for: self.retryAfter)
            suspects = try suspects.filter { try self.pages.compare(from: $0, count: 1).isWrong }
        }
        return (suspects, next - 1 - last)
    }
}
