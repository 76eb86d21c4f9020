/// Counts how far an operation is.
struct Progress: Sendable {
    private(set) var total: Int64 = 0
    private var done: Int64 = 0
    private let show: @Sendable (Int64, Int64) -> Void

    /// - Parameter show: Gets how much is done, and how much there is to do.
    init(_ show: @escaping @Sendable (Int64, Int64) -> Void) { self.show = show }

    /// Begins a part of the operation.
    mutating func begin(_ total: Int64) {
        self.done = 0
        self.total = total
    }

    /// There is more to do than was known.
    mutating func extend(to total: Int64) { self.total = total }

    mutating func add(_ count: Int) {
        self.done += Int64(count)
        self.show(self.done, self.total)
    }
}
